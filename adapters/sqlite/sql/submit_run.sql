-- Write one new job of a schedule, or one that tells of it.
--   ?1 id   ?2 type   ?3 payload   ?4 priority   ?5 tenant   ?6 run_at   ?7 max_attempts   ?8 timeout   ?9 backoff   ?10 target
--   ?11 tags   ?12 now   ?13 schedule   ?14 scheduled_for   ?15 covers   ?16 expires_at
INSERT INTO jobs (id, type, payload, priority, tenant, run_at, status, max_attempts, timeout, backoff, target, tags, created_at,
	schedule, scheduled_for, covers, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
