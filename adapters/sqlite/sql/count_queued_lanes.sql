-- How many jobs of each priority and type are queued, of up to a limit.
--   ?1 limit
SELECT priority, type, COUNT(*) FROM (SELECT priority, type FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) AND status = 2 LIMIT ?1) GROUP BY priority, type
