-- Delete dead letters, the oldest first.
--   $1 most  $2 type or ''  $3 tenant or null  $4 ids or none  $5 failed before or null
DELETE FROM belfry.dead_letters
WHERE  id = ANY (ARRAY(
    SELECT id
    FROM   belfry.dead_letters
    WHERE  ($2::text = '' OR type = $2) AND ($3::text IS NULL OR tenant = $3) AND ($4::bigint[] = '{}' OR id = ANY ($4))
      AND  ($5::timestamptz IS NULL OR finished_at < $5)
    ORDER  BY finished_at, id
    LIMIT  $1::bigint
    FOR    UPDATE SKIP LOCKED
))
RETURNING id;
