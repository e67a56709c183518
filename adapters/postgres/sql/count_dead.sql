-- Count dead letters, up to a cap.
--   $1 to $8 as in redrive, $2 the cap
SELECT count(*) FROM (SELECT FROM belfry.dead_letters WHERE {dead_rows} ORDER BY {dead_order} LIMIT $2::bigint) c;
