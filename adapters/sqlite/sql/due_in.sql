-- Whether a tick has something to do or to watch now, and when the next expiry, schedule or missed success of a type is due.
-- When the next job is due say the lanes.
--   ?1 now   ?2 kind of alerts about failures   ?3 events of alerts are published   ?4 counts of minutes after this are news
SELECT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3))
       OR EXISTS (SELECT 1 FROM schedules INDEXED BY schedules_waiting WHERE waiting IS NOT NULL)
       OR EXISTS (SELECT 1 FROM failure_notes)
       OR EXISTS (SELECT 1 FROM alerts INDEXED BY alerts_open WHERE kind = ?2 AND tenant = '' AND cleared_at IS NULL)
       OR ?3 AND EXISTS (SELECT 1 FROM alerts INDEXED BY alerts_unsent WHERE (sent = 0 OR sent = 1 AND cleared_at IS NOT NULL) AND {alert ?1})
       OR EXISTS (SELECT 1 FROM set_apart WHERE told = 0)
       OR EXISTS (SELECT 1 FROM rollups INDEXED BY rollups_open WHERE merged = 0 AND minute > ?4),
       MIN(COALESCE((SELECT expires_at FROM jobs INDEXED BY jobs_expiring WHERE status = 1 AND expires_at IS NOT NULL AND {sound ?1} ORDER BY expires_at LIMIT 1), 9223372036854775807),
           COALESCE((SELECT next_due FROM schedules WHERE next_due IS NOT NULL AND {schedule ?1} ORDER BY next_due LIMIT 1), 9223372036854775807),
           COALESCE((SELECT expect_by FROM schedules WHERE expect_by IS NOT NULL AND {schedule ?1} ORDER BY expect_by LIMIT 1), 9223372036854775807),
           COALESCE((SELECT MIN(expect_from + expect_within) FROM job_types WHERE expect_within > 0), 9223372036854775807))
