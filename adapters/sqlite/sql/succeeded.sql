-- The newest success of a schedule for an instant at or after one.
--   ?1 tenant   ?2 schedule   ?3 instant
SELECT finished_at, scheduled_for FROM job_history INDEXED BY job_history_of_schedules
WHERE  tenant = ?1 AND schedule = ?2 AND scheduled_for >= ?3 AND status = 4
ORDER  BY scheduled_for DESC LIMIT 1
