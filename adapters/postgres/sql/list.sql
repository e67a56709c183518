-- Jobs that match, the newest id first, among the first $2 rows below a cursor, whatever table they are in. The last of
-- those rows comes back also where it does not match: below it the next call goes on.
--   $1 most  $2 rows looked at  $3 ids below  $4 statuses or none  $5 type or ''  $6 tenant or null  $7 priority or 0
--   $8 tag or ''  $9 run_at from or null  $10 run_at before or null  $11 error group or ''  $12 failed before or null
--   $13 schedule or ''
SELECT {record}, status, lease_until, cancel_wanted, finished_at, result, reason, matches, n = $2
FROM  (SELECT u.*, row_number() OVER (ORDER BY {list_order} DESC) AS n,
              coalesce(($4::smallint[] = '{}' OR status = ANY ($4)) AND ($5::text = '' OR type = $5) AND ($6::text IS NULL OR tenant = $6)
                AND ($7::smallint = 0 OR priority = $7) AND ($8::text = '' OR $8 = ANY (tags))
                AND ($9::timestamptz IS NULL OR run_at >= $9) AND ($10::timestamptz IS NULL OR run_at < $10)
                AND ($11::text = '' OR error_group = $11) AND ($12::timestamptz IS NULL OR finished_at < $12) AND ($13::text = '' OR schedule = $13), false) AS matches
       FROM ({list_tables}) u
       WHERE  {list_rows}
       ORDER  BY {list_order} DESC
       LIMIT  $2::bigint) w
WHERE  matches OR n = $2
LIMIT  $1::bigint;
