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
           sum(starts)::bigint AS starts, sum(done)::bigint AS done, sum(failed)::bigint AS failed, sum(retried)::bigint AS retried,
           sum(cancelled)::bigint AS cancelled, sum(lost)::bigint AS lost, sum(snoozed)::bigint AS snoozed,
           belfry.add_up(lag) AS lag, sum(lag_sum)::bigint AS lag_sum, sum(strayed)::bigint
    FROM   gone
    GROUP  BY minute, priority, type
    ORDER  BY minute, priority, type
    ON CONFLICT (minute, priority, type, shard) DO UPDATE
    SET    starts = r.starts + excluded.starts,
       done = r.done + excluded.done,
       failed = r.failed + excluded.failed,
       retried = r.retried + excluded.retried,
       cancelled = r.cancelled + excluded.cancelled,
       lost = r.lost + excluded.lost,
       snoozed = r.snoozed + excluded.snoozed,
       lag_sum = r.lag_sum + excluded.lag_sum,
       strayed = r.strayed + excluded.strayed,
       lag = belfry.add_up(r.lag, excluded.lag)
), totals AS (
    INSERT INTO belfry.rollup_totals AS r (priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed, last_minute)
    SELECT priority, type,
           sum(starts)::bigint AS starts, sum(done)::bigint AS done, sum(failed)::bigint AS failed, sum(retried)::bigint AS retried,
           sum(cancelled)::bigint AS cancelled, sum(lost)::bigint AS lost, sum(snoozed)::bigint AS snoozed,
           belfry.add_up(lag) AS lag, sum(lag_sum)::bigint AS lag_sum, sum(strayed)::bigint, max(minute)
    FROM   gone
    GROUP  BY priority, type
    ORDER  BY priority, type
    ON CONFLICT (priority, type) DO UPDATE
    SET    starts = r.starts + excluded.starts,
       done = r.done + excluded.done,
       failed = r.failed + excluded.failed,
       retried = r.retried + excluded.retried,
       cancelled = r.cancelled + excluded.cancelled,
       lost = r.lost + excluded.lost,
       snoozed = r.snoozed + excluded.snoozed,
       lag_sum = r.lag_sum + excluded.lag_sum,
       strayed = r.strayed + excluded.strayed,
       last_minute = greatest(r.last_minute, excluded.last_minute),
       lag = belfry.add_up(r.lag, excluded.lag)
)
SELECT count(*) FROM gone;
