-- Write one new job.
--   ?1 id   ?2 type   ?3 payload   ?4 priority   ?5 tenant   ?6 run_at   ?7 status   ?8 max_attempts
--   ?9 lease_until, reap_at   ?10 dispatch_fence   ?11 dispatches   ?12 dedupe_key   ?13 timeout
--   ?14 expires_at   ?15 backoff   ?16 target   ?17 tags   ?18 trace   ?19 now
INSERT INTO jobs (id, type, payload, priority, tenant, run_at, status, max_attempts, lease_until, reap_at,
	dispatch_fence, dispatches, dedupe_key, timeout, expires_at, backoff, target, tags, trace, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
