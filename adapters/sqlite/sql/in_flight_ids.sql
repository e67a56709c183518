-- The ids and types of rows in flight.
--   ?1 now   ?2 limit
SELECT id, type FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) AND {sound ?1} LIMIT ?2
