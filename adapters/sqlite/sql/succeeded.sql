-- The first success of a schedule for instants at or after one, and the newest such instant.
--   ?1 tenant   ?2 schedule   ?3 instant
SELECT MIN(finished_at), MAX(scheduled_for) FROM job_history INDEXED BY job_history_of_schedules
WHERE  tenant = ?1 AND schedule = ?2 AND scheduled_for >= ?3 AND status = 4
