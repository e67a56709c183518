-- Delete dead letters, the lowest id first.
--   $1 to $8 as in redrive
DELETE FROM belfry.dead_letters
WHERE  id = ANY (ARRAY(
    SELECT id
    FROM   belfry.dead_letters
    WHERE  {dead_rows}
    ORDER  BY {dead_order}
    LIMIT  $2::bigint
    FOR    UPDATE SKIP LOCKED
))
RETURNING id;
