-- How many jobs of each type are queued, and how many of these bring no target, of up to a limit.
--   ?1 limit
SELECT type, COUNT(*), COUNT(*) FILTER (WHERE target IS NULL)
FROM  (SELECT type, target FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) AND status = 2 LIMIT ?1) GROUP BY type
