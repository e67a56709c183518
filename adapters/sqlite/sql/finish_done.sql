-- Write running jobs that are done into the history, before delete_jobs takes them out of jobs.
--   ?1 JSON array of [id, result or null]   ?2 now
INSERT INTO job_history
SELECT j.id, j.type, j.payload, j.priority, j.tenant, j.run_at, 4, j.attempts, j.max_attempts, j.snoozes, j.lease_token,
	NULL, NULL, j.lease_token, j.claim_id, j.worker_id, j.dispatch_fence, j.dispatches, 0, j.dedupe_key, j.timeout,
	j.expires_at, j.backoff, j.target, j.tags, j.trace, j.errors, e.value ->> 1, '', j.created_at, j.started_at, ?2,
	j.schedule, j.scheduled_for, j.covers
FROM json_each(?1) e CROSS JOIN jobs j ON j.id = e.value ->> 0
