-- Submit one job in a transaction of the caller's own. Each parameter is a text, so that it means the same in every way
-- a driver can send it.
--   $1 type  $2 payload  $3 run at  $4 delay  $5 priority  $6 tenant  $7 dedupe key  $8 max attempts  $9 timeout
--   $10 expires at  $11 backoff  $12 target  $13 tags  $14 trace
SELECT id, run_at, created_at, duplicate
FROM   belfry.submit_job($1::text, $2::text::json, $3::text::timestamptz, $4::text::interval, $5::text, $6::text, $7::text, $8::text::integer,
           $9::text::interval, $10::text::timestamptz, $11::text::interval[], $12::text::json, $13::text::text[], $14::text);
