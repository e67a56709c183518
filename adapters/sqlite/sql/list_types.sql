-- Definitions by name.
--   ?1 after this name   ?2 most
SELECT type, delivered, defined_at, updated_at, target, timeout, max_attempts, backoff, expect_within, expires_after
FROM   job_types WHERE type > ?1 AND defined_at IS NOT NULL ORDER BY type LIMIT ?2
