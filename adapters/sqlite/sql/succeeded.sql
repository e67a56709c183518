-- For instants of a schedule at or after one: when the first success among the 100 earliest was recorded, and the newest
-- instant that succeeded.
--   ?1 tenant   ?2 schedule   ?3 instant
SELECT (SELECT MIN(finished_at) FROM (SELECT finished_at FROM job_history INDEXED BY job_history_of_schedules
           WHERE tenant = ?1 AND schedule = ?2 AND scheduled_for >= ?3 AND status = 4 ORDER BY scheduled_for LIMIT 100)),
       (SELECT scheduled_for FROM job_history INDEXED BY job_history_of_schedules
           WHERE tenant = ?1 AND schedule = ?2 AND scheduled_for >= ?3 AND status = 4 ORDER BY scheduled_for DESC LIMIT 1)
