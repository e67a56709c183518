-- Make queued rows due for publishing again that a holder had queued who lost its lease without releasing it. They do not
-- count as published: it may have died before.
--   ?1 now   ?2 the holder that takes over
UPDATE jobs INDEXED BY jobs_in_flight
SET    lease_until = ?1, reap_at = ?1, dispatches = MAX(dispatches, 1) - 1
WHERE  status IN (2, 3) AND status = 2 AND reap_at > ?1 AND {sound ?1} AND EXISTS (
	SELECT 1 FROM scheduler_leases l
	WHERE l.bucket = jobs.id & 63 AND l.holder NOT IN ('', ?2) AND l.expires_at <= ?1 AND l.token = jobs.dispatch_fence)
