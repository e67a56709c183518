-- When the next schedule will need to be advanced, null when none does; those due now are another matter. And whether events
-- of alerts wait to be published, notes of failures wait, alerts of failures are open. And the last
-- schedule of a full page of those that wait, as in due_schedules. And whether rows were set apart that nobody was told of.
--   $1 clock offset  $2 kind of these  $3 holder  $4 those that wait: ids above  $5 how many
SELECT least((SELECT next_due FROM belfry.schedules WHERE next_due > {now} ORDER BY next_due LIMIT 1),
             (SELECT expect_by FROM belfry.schedules WHERE expect_by > {now} ORDER BY expect_by LIMIT 1)),
       EXISTS (SELECT FROM belfry.alerts WHERE (sent = 0 OR sent = 1 AND cleared_at IS NOT NULL) AND {alert_sound}),
       EXISTS (SELECT FROM belfry.failure_notes ORDER BY id),
       EXISTS (SELECT FROM belfry.alerts WHERE kind = $2::text AND tenant = '' AND cleared_at IS NULL),
       (SELECT id FROM belfry.schedules
        WHERE  waiting IS NOT NULL AND id > $4::bigint
          AND  (id & 63) = ANY (ARRAY(SELECT bucket FROM belfry.scheduler_leases WHERE holder = $3::text AND expires_at > clock_timestamp() + $1::interval))
        ORDER  BY id OFFSET greatest($5::bigint, 1) - 1 LIMIT 1),
       EXISTS (SELECT FROM belfry.set_apart WHERE NOT told);
