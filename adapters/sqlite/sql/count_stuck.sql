-- How many running rows have let their lease pass.
--   ?1 now   ?2 limit   ?3 later than any lease ends
SELECT COUNT(*) FROM (
	SELECT 1 FROM jobs INDEXED BY jobs_in_flight
	WHERE status IN (2, 3) AND status = 3 AND reap_at <= ?1 AND (lease_until IS NULL OR lease_until <= ?1 OR lease_until > ?3)
	UNION ALL
	SELECT 1 FROM jobs INDEXED BY jobs_in_flight
	WHERE status IN (2, 3) AND status = 3 AND reap_at > ?3 AND (lease_until IS NULL OR lease_until <= ?1 OR lease_until > ?3)
	LIMIT ?2)
