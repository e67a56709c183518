-- The running rows of one claim, found among the rows in flight.
--   ?1 claim id
SELECT * FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) AND status = 3 AND claim_id = ?1 ORDER BY id
