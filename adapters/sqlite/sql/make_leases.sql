-- Make the rows of buckets again that somebody deleted, under a token that no lease has and under which no queued job was
-- dispatched.
--   ?1 these buckets, from   ?2 and to
INSERT INTO scheduler_leases (bucket, token)
WITH RECURSIVE wanted (bucket) AS (SELECT ?1 UNION ALL SELECT bucket + 1 FROM wanted WHERE bucket < ?2)
SELECT bucket, MAX(
	COALESCE((SELECT MAX(token) FROM scheduler_leases WHERE bucket BETWEEN 0 AND 63), 0),
	COALESCE((SELECT MAX(dispatch_fence) FROM jobs INDEXED BY jobs_in_flight WHERE status IN (2, 3) AND status = 2), 0))
FROM   wanted WHERE bucket NOT IN (SELECT bucket FROM scheduler_leases)
