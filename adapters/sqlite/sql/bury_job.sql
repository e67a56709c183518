-- Write a live job that failed for good into the dead letters, before delete_job takes it out of jobs.
--   the parameters of end_job
INSERT INTO dead_letters
SELECT id, type, payload, priority, tenant, run_at, ?2, ?3, max_attempts, ?10, ?4, NULL, NULL, ?5, claim_id, worker_id,
	dispatch_fence, dispatches, 0, dedupe_key, timeout, expires_at, backoff, target, tags, trace, ?6, ?7, ?8,
	created_at, started_at, ?9, schedule, scheduled_for, covers
FROM jobs WHERE id = ?1
