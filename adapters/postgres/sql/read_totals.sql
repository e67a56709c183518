-- Counts by priority and type since the first job.
SELECT priority, type, NULL::timestamptz,
           sum(starts)::bigint AS starts, sum(done)::bigint AS done, sum(failed)::bigint AS failed, sum(retried)::bigint AS retried,
           sum(cancelled)::bigint AS cancelled, sum(lost)::bigint AS lost, sum(snoozed)::bigint AS snoozed,
           belfry.add_up(lag) AS lag, sum(lag_sum)::bigint AS lag_sum, sum(strayed)::bigint AS strayed
FROM  (SELECT priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed FROM belfry.rollup_totals
       UNION ALL
       SELECT priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed FROM belfry.rollups WHERE shard <> -1) r
GROUP  BY priority, type
ORDER  BY priority, type;
