-- What is known of a type.
--   ?1 type
SELECT type, delivered, defined_at, updated_at, target, timeout, max_attempts, backoff, expect_within, expires_after FROM job_types WHERE type = ?1
