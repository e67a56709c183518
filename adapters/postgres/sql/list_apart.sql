-- Rows that are set apart, those with the most tries first.
--   $1 clock offset  $2 most
SELECT kind, row_id, name, about, act, error, tries, first_at, retry_at
FROM   belfry.set_apart
WHERE  retry_at + {apart_over} >= {now}
ORDER  BY tries DESC, first_at, kind, row_id
LIMIT  $2::bigint;
