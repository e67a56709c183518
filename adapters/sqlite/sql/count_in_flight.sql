-- How many rows are queued and running in each priority, among the first ?1 rows in flight.
--   ?1 rows looked at
SELECT priority, status, COUNT(*)
FROM   (SELECT priority, status FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) LIMIT ?1)
GROUP BY priority, status
