-- Count dead letters.
--   $1 type or ''  $2 tenant or null  $3 ids or none  $4 failed before or null
SELECT count(*)
FROM   belfry.dead_letters
WHERE  ($1::text = '' OR type = $1) AND ($2::text IS NULL OR tenant = $2) AND ($3::bigint[] = '{}' OR id = ANY ($3))
      AND  ($4::timestamptz IS NULL OR finished_at < $4);
