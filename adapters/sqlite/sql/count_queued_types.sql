-- How many jobs of each type are queued, of up to a limit.
--   ?1 limit
SELECT type, COUNT(*) FROM (SELECT type FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) AND status = 2 LIMIT ?1) GROUP BY type
