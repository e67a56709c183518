-- Write a dead letter back into the live jobs, before delete_dead takes it out of the dead letters.
--   ?1 id   ?2 run_at
INSERT INTO jobs
SELECT id, type, payload, priority, tenant, ?2, 1, 0, max_attempts, 0, lease_token + 1, NULL, NULL, ended_token, claim_id,
	worker_id, dispatch_fence, 0, 0, dedupe_key, timeout, NULL, backoff, target, tags, trace, errors, NULL, '',
	created_at, started_at, NULL, schedule, scheduled_for, covers
FROM dead_letters WHERE id = ?1
