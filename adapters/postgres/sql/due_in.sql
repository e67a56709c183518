-- Whether a tick has something to do or to watch now, and when the next job, expiry, schedule or missed success of a type is
-- due. Each part takes a few steps down an index; the lanes are found as in waiting.
--   $1 clock offset  $2 kind of alerts about failures  $3 events of alerts are published  $4 counts this young are news
WITH RECURSIVE lanes AS (
    (SELECT priority, type, tenant, run_at FROM belfry.jobs WHERE status = 1 ORDER BY priority, type, tenant, run_at LIMIT 1)
    UNION ALL
    SELECT n.priority, n.type, n.tenant, n.run_at
    FROM   lanes l CROSS JOIN LATERAL (
        SELECT priority, type, tenant, run_at
        FROM   belfry.jobs
        WHERE  status = 1 AND (priority, type) > (l.priority, l.type)
        ORDER  BY priority, type, tenant, run_at LIMIT 1
    ) n
)
SELECT {now},
       (SELECT true FROM belfry.jobs WHERE status = 2 ORDER BY reap_at LIMIT 1) IS NOT NULL
       OR (SELECT true FROM belfry.jobs WHERE status = 3 ORDER BY reap_at LIMIT 1) IS NOT NULL
       OR EXISTS (SELECT FROM belfry.schedules WHERE waiting IS NOT NULL)
       OR EXISTS (SELECT FROM belfry.failure_notes)
       OR EXISTS (SELECT FROM belfry.alerts WHERE kind = $2::text AND tenant = '' AND cleared_at IS NULL)
       OR $3::boolean AND EXISTS (SELECT FROM belfry.alerts WHERE (sent = 0 OR sent = 1 AND cleared_at IS NOT NULL) AND {alert_sound})
       OR EXISTS (SELECT FROM belfry.set_apart WHERE NOT told)
       OR EXISTS (SELECT FROM belfry.rollups WHERE shard <> -1 AND minute > {now} - $4::interval),
       least((SELECT min(least(CASE WHEN l.tenant = '' THEN l.run_at END, f.run_at))
              FROM   lanes l LEFT JOIN LATERAL (
                  SELECT run_at FROM belfry.jobs
                  WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant <> ''
                  ORDER  BY run_at LIMIT 1
              ) f ON true),
             (SELECT expires_at FROM belfry.jobs WHERE (status + 0) = 1 AND expires_at IS NOT NULL AND {sound} ORDER BY expires_at LIMIT 1),
             (SELECT next_due FROM belfry.schedules WHERE next_due IS NOT NULL AND {schedule_sound} ORDER BY next_due LIMIT 1),
             (SELECT expect_by FROM belfry.schedules WHERE expect_by IS NOT NULL AND {schedule_sound} ORDER BY expect_by LIMIT 1),
             (SELECT min(expect_from + expect_within * interval '1 us') FROM belfry.job_types WHERE expect_within IS NOT NULL));
