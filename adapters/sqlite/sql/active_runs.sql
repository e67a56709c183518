-- The live jobs of a schedule, at most 1,000.
--   ?1 tenant   ?2 schedule
SELECT id FROM jobs INDEXED BY jobs_of_schedules WHERE tenant = ?1 AND schedule = ?2 ORDER BY id LIMIT 1000
