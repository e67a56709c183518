-- Counts by priority and type since the first job.
SELECT priority, type, NULL::timestamptz,
           {sum starts} AS starts, {sum done} AS done, {sum failed} AS failed, {sum retried} AS retried,
           {sum cancelled} AS cancelled, {sum lost} AS lost, {sum snoozed} AS snoozed,
           belfry.add_up(lag) AS lag, {sum lag_sum} AS lag_sum, {sum strayed} AS strayed
FROM  (SELECT priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed FROM belfry.rollup_totals
       UNION ALL
       SELECT priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed FROM belfry.rollups WHERE shard <> -1) r
GROUP  BY priority, type
ORDER  BY priority, type;
