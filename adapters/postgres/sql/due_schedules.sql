-- Schedules of held buckets that need to be advanced: an instant is due, one waits and no run is active, or a success is
-- overdue. Of those that wait a page is looked at, by id. Each with whether a run is active, where its overlap policy asks.
--   $1 clock offset  $2 holder  $3 most  $4 those that wait: ids above  $5 how many
WITH held AS MATERIALIZED (
    SELECT bucket FROM belfry.scheduler_leases WHERE holder = $2::text AND expires_at > clock_timestamp() + $1::interval
), found AS MATERIALIZED (
    (SELECT id FROM belfry.schedules WHERE next_due <= {now} AND {schedule_sound} AND (id & 63) = ANY (ARRAY(SELECT bucket FROM held)) ORDER BY next_due LIMIT $3::bigint)
    UNION
    (SELECT id
     FROM  (SELECT id, tenant, name FROM belfry.schedules
            WHERE  waiting IS NOT NULL AND id > $4::bigint AND {schedule_sound} AND (id & 63) = ANY (ARRAY(SELECT bucket FROM held))
            ORDER  BY id LIMIT $5::bigint) w
     WHERE  NOT EXISTS (SELECT FROM belfry.jobs j WHERE j.tenant = w.tenant AND j.schedule = w.name)
     ORDER  BY id LIMIT $3)
    UNION
    (SELECT id FROM belfry.schedules WHERE expect_by <= {now} AND {schedule_sound} AND (id & 63) = ANY (ARRAY(SELECT bucket FROM held)) ORDER BY expect_by LIMIT $3)
)
SELECT {due_schedule}
FROM   belfry.schedules s
WHERE  s.id = ANY (ARRAY(SELECT id FROM found))
ORDER  BY s.next_due, s.id
LIMIT  $3;
