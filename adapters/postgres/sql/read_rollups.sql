-- Counts by priority and type since an instant.
--   $1 clock offset  $2 period
SELECT priority, type, min(minute),
           {sum starts} AS starts, {sum done} AS done, {sum failed} AS failed, {sum retried} AS retried,
           {sum cancelled} AS cancelled, {sum lost} AS lost, {sum snoozed} AS snoozed,
           belfry.add_up(lag) AS lag, {sum lag_sum} AS lag_sum, {sum strayed} AS strayed
FROM   belfry.rollups
WHERE  minute > {now} - $2::interval - interval '1 min'
GROUP  BY priority, type
ORDER  BY priority, type;
