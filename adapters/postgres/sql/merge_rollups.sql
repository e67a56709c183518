-- Merge the shards of past minutes into one row each, and add them to the totals.
--   $1 clock offset  $2 most
WITH gone AS (
    DELETE FROM belfry.rollups
    WHERE  ctid = ANY (ARRAY(
        SELECT ctid
        FROM   belfry.rollups
        WHERE  shard <> -1 AND minute < date_trunc('minute', {now}) - interval '1 min'
        ORDER  BY minute, priority, type, shard
        LIMIT  $2::bigint
        FOR    UPDATE SKIP LOCKED
    ))
    RETURNING *
), merged AS (
    INSERT INTO belfry.rollups AS r (shard, minute, priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed)
    SELECT -1, minute, priority, type,
           {sum starts} AS starts, {sum done} AS done, {sum failed} AS failed, {sum retried} AS retried,
           {sum cancelled} AS cancelled, {sum lost} AS lost, {sum snoozed} AS snoozed,
           belfry.add_up(lag) AS lag, {sum lag_sum} AS lag_sum, {sum strayed}
    FROM   gone
    GROUP  BY minute, priority, type
    ORDER  BY minute, priority, type
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
       lag = belfry.add_up(r.lag, excluded.lag)
), totals AS (
    INSERT INTO belfry.rollup_totals AS r (priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed, last_minute)
    SELECT priority, type,
           {sum starts} AS starts, {sum done} AS done, {sum failed} AS failed, {sum retried} AS retried,
           {sum cancelled} AS cancelled, {sum lost} AS lost, {sum snoozed} AS snoozed,
           belfry.add_up(lag) AS lag, {sum lag_sum} AS lag_sum, {sum strayed}, max(minute)
    FROM   gone
    GROUP  BY priority, type
    ORDER  BY priority, type
    ON CONFLICT (priority, type) DO UPDATE
    SET    starts = {add starts},
       done = {add done},
       failed = {add failed},
       retried = {add retried},
       cancelled = {add cancelled},
       lost = {add lost},
       snoozed = {add snoozed},
       lag_sum = {add lag_sum},
       strayed = {add strayed},
       last_minute = greatest(r.last_minute, excluded.last_minute),
       lag = belfry.add_up(r.lag, excluded.lag)
)
SELECT count(*) FROM gone;
