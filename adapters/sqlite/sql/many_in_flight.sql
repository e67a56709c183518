-- One row, if more than ?1 are queued or running.
--   ?1 rows looked at
SELECT 1 FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) LIMIT 1 OFFSET ?1
