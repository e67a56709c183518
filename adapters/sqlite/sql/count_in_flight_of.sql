-- How many rows of a tenant are queued and running in each priority, among the first ?2 rows in flight.
--   ?1 tenant   ?2 rows looked at
SELECT priority, status, COUNT(*)
FROM   (SELECT priority, status, tenant FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) LIMIT ?2)
WHERE  tenant = ?1
GROUP BY priority, status
