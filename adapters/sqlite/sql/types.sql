-- Every definition and every mark.
SELECT type, delivered, defined_at, updated_at, target, timeout, max_attempts, backoff, expect_within, expires_after
FROM   job_types WHERE defined_at IS NOT NULL OR delivered = 1 ORDER BY type
