-- When the next schedule will need to be advanced, null when none does; those due now are another matter. And whether events
-- of alerts wait to be published, notes of failures wait, alerts of failures are open.
--   $1 clock offset  $2 kind of these
SELECT least((SELECT next_due FROM belfry.schedules WHERE next_due > {now} ORDER BY next_due LIMIT 1),
             (SELECT expect_by FROM belfry.schedules WHERE expect_by > {now} ORDER BY expect_by LIMIT 1)),
       EXISTS (SELECT FROM belfry.alerts WHERE sent = 0 OR sent = 1 AND cleared_at IS NOT NULL),
       EXISTS (SELECT FROM belfry.failure_notes ORDER BY id),
       EXISTS (SELECT FROM belfry.alerts WHERE kind = $2::text AND tenant = '' AND cleared_at IS NULL);
