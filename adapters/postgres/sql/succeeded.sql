-- The first success of a schedule for instants at or after one, and the newest such instant.
--   $1 tenant  $2 schedule  $3 instant
SELECT min(finished_at), max(scheduled_for)
FROM   (
    SELECT finished_at, scheduled_for, status FROM belfry.job_history WHERE tenant = $1::text AND schedule = $2::text AND scheduled_for >= $3::timestamptz
    UNION ALL
    SELECT finished_at, scheduled_for, status FROM belfry.job_history_overflow WHERE tenant = $1 AND schedule = $2 AND scheduled_for >= $3
) h
WHERE  status = 4;
