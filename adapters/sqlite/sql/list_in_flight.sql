-- Queued and running jobs that match, newest id first: found among the first ?10 rows in flight, however many wait.
--   the parameters of list
SELECT * FROM (SELECT * FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) LIMIT ?10) AS j
WHERE id < ?8 AND {matches}
ORDER BY id DESC LIMIT ?9
