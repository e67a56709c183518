-- How many running rows have let their lease pass.
--   ?1 now   ?2 limit
SELECT COUNT(*) FROM (
	SELECT 1 FROM jobs INDEXED BY jobs_in_flight
	WHERE status IN (2, 3) AND status = 3 AND reap_at <= ?1 AND (lease_until IS NULL OR lease_until <= ?1) LIMIT ?2)
