-- For instants of schedules at or after one: when the first success among the 100 earliest was recorded, and the newest
-- instant that succeeded. A few rows are read for each, however many there are. A success is recorded after its instant, so
-- that earlier days of the history are left out; a week is allowed for a clock that was set back.
--   $1 tenants  $2 schedules  $3 instants  $4 the earliest of these
SELECT g.item, first.at, newest.instant
FROM   unnest($1::text[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS g (tenant, schedule, since, item)
CROSS  JOIN LATERAL (
    SELECT min(finished_at) AS at
    FROM   ((SELECT finished_at FROM belfry.job_history h
             WHERE  h.tenant = g.tenant AND h.schedule = g.schedule AND h.scheduled_for >= g.since AND h.status = 4
               AND  h.finished_at >= g.since - interval '7 d' AND h.finished_at >= $4::timestamptz - interval '7 d'
             ORDER  BY h.scheduled_for LIMIT 100)
            UNION ALL
            (SELECT finished_at FROM belfry.job_history_overflow h
             WHERE  h.tenant = g.tenant AND h.schedule = g.schedule AND h.scheduled_for >= g.since AND h.status = 4
             ORDER  BY h.scheduled_for LIMIT 100)) early
) first
CROSS  JOIN LATERAL (
    SELECT max(scheduled_for) AS instant
    FROM   ((SELECT scheduled_for FROM belfry.job_history h
             WHERE  h.tenant = g.tenant AND h.schedule = g.schedule AND h.scheduled_for >= g.since AND h.status = 4
               AND  h.finished_at >= g.since - interval '7 d' AND h.finished_at >= $4::timestamptz - interval '7 d'
             ORDER  BY h.scheduled_for DESC LIMIT 1)
            UNION ALL
            (SELECT scheduled_for FROM belfry.job_history_overflow h
             WHERE  h.tenant = g.tenant AND h.schedule = g.schedule AND h.scheduled_for >= g.since AND h.status = 4
             ORDER  BY h.scheduled_for DESC LIMIT 1)) late
) newest;
