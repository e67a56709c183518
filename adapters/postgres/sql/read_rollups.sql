-- Counts by priority and type since an instant.
--   $1 clock offset  $2 period
SELECT priority, type, min(minute),
           sum(starts)::bigint AS starts, sum(done)::bigint AS done, sum(failed)::bigint AS failed, sum(retried)::bigint AS retried,
           sum(cancelled)::bigint AS cancelled, sum(lost)::bigint AS lost, sum(snoozed)::bigint AS snoozed,
           belfry.add_up(lag) AS lag, sum(lag_sum)::bigint AS lag_sum, sum(strayed)::bigint AS strayed
FROM   belfry.rollups
WHERE  minute > {now} - $2::interval - interval '1 min'
GROUP  BY priority, type
ORDER  BY priority, type;
