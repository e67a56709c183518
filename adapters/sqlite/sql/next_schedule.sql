-- When the next schedule will need to be advanced, NULL when none does; those due now are another matter. And whether events
-- of alerts wait to be published, notes of failures wait, alerts of failures are open. And the last
-- schedule of a full page of those that wait, as in due_schedules. And whether rows were set apart that nobody was told of.
--   ?1 now   ?2 kind of these   ?3 held buckets as bits   ?4 those that wait: ids above   ?5 how many, less one
SELECT MIN(COALESCE((SELECT MIN(next_due) FROM schedules WHERE next_due > ?1), 9223372036854775807),
           COALESCE((SELECT MIN(expect_by) FROM schedules WHERE expect_by > ?1), 9223372036854775807)),
       EXISTS (SELECT 1 FROM alerts INDEXED BY alerts_unsent WHERE (sent = 0 OR sent = 1 AND cleared_at IS NOT NULL) AND {alert ?1}),
       EXISTS (SELECT 1 FROM failure_notes),
       EXISTS (SELECT 1 FROM alerts INDEXED BY alerts_open WHERE kind = ?2 AND tenant = '' AND cleared_at IS NULL),
       COALESCE((SELECT id FROM schedules INDEXED BY schedules_waiting WHERE waiting IS NOT NULL AND id > ?4 AND (?3 >> (id & 63)) & 1 ORDER BY id LIMIT 1 OFFSET ?5), 0),
       EXISTS (SELECT 1 FROM set_apart WHERE told = 0)
