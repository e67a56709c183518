-- Write the end of a live job into the history, before delete_job takes it out of jobs.
--   ?1 id   ?2 status   ?3 attempts   ?4 lease_token   ?5 ended_token   ?6 errors   ?7 result   ?8 reason   ?9 now
--   ?10 snoozes
INSERT INTO job_history
SELECT id, type, payload, priority, tenant, run_at, ?2, ?3, max_attempts, ?10, ?4, NULL, NULL, ?5, claim_id, worker_id,
	dispatch_fence, dispatches, 0, dedupe_key, timeout, expires_at, backoff, target, tags, trace, ?6, ?7, ?8,
	created_at, started_at, ?9, schedule, scheduled_for, covers
FROM jobs WHERE id = ?1
