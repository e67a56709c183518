-- When the next schedule needs to be advanced, null when none does; and whether events of alerts wait to be published.
SELECT least((SELECT next_due FROM belfry.schedules WHERE next_due IS NOT NULL ORDER BY next_due LIMIT 1),
             (SELECT expect_by FROM belfry.schedules WHERE expect_by IS NOT NULL ORDER BY expect_by LIMIT 1)),
       EXISTS (SELECT FROM belfry.alerts WHERE sent = 0 OR sent = 1 AND cleared_at IS NOT NULL);
