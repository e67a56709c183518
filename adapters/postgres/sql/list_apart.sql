-- Rows that are set apart, those of most tries first.
--   $1 clock offset  $2 a time that is over for so long was in vain  $3 most
SELECT kind, row_id, name, about, act, error, tries, first_at, retry_at
FROM   belfry.set_apart
WHERE  retry_at + $2::interval >= {now}
ORDER  BY tries DESC, first_at, kind, row_id
LIMIT  $3::bigint;
