-- Remove the definition of a type. What was announced of it, and its marks, stay.
--   $1 type
UPDATE belfry.job_types
SET    defined_at = NULL, updated_at = NULL, target = NULL, timeout = NULL, max_attempts = NULL, backoff = NULL,
       expect_within = NULL, expect_from = NULL, expires_after = NULL
WHERE  type = $1::text AND defined_at IS NOT NULL
RETURNING type;
