-- Add counts to the minute rows of a shard. The arrays are in order of (minute, priority, type), each once.
--   $1 shard  $2 minutes  $3 priorities  $4 types  $5 starts  $6 done  $7 failed  $8 retried  $9 cancelled  $10 lost
--   $11 snoozed  $12 lag histograms  $13 sums of lag  $14 strayed
INSERT INTO belfry.rollups AS r (shard, minute, priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed)
SELECT $1::bigint, minute, priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag::bigint[], lag_sum, strayed
FROM   unnest($2::timestamptz[], $3::smallint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
           $10::bigint[], $11::bigint[], $12::text[], $13::bigint[], $14::bigint[])
       AS g (minute, priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed)
ON CONFLICT (minute, priority, type, shard) DO UPDATE
SET    starts = {add starts},
       done = {add done},
       failed = {add failed},
       retried = {add retried},
       cancelled = {add cancelled},
       lost = {add lost},
       snoozed = {add snoozed},
       lag_sum = {add lag_sum},
       strayed = {add strayed},
       lag = belfry.add_up(r.lag, excluded.lag);
