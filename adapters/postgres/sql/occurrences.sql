-- A schedule's ledger, newest first.
--   $1 schedule's id  $2 instants from, or null  $3 rows that begin before, or null  $4 outcome or ''  $5 most
SELECT from_at, to_at, count, outcome, reason, job_id, at
FROM   belfry.occurrences
WHERE  schedule_id = $1::bigint AND ($2::timestamptz IS NULL OR to_at >= $2) AND ($3::timestamptz IS NULL OR from_at < $3)
  AND  ($4::text = '' OR outcome = $4)
ORDER  BY from_at DESC
LIMIT  $5::bigint;
