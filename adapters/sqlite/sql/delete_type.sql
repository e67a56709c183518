-- Remove the definition of a type. What was announced of it, and its marks, stay.
--   ?1 type
UPDATE job_types SET defined_at = NULL, updated_at = NULL, target = NULL, timeout = 0, max_attempts = 0, backoff = NULL,
       expect_within = 0, expect_from = NULL, expires_after = 0
WHERE  type = ?1 AND defined_at IS NOT NULL
