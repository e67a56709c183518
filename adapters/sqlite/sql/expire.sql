-- Waiting rows whose expires_at has passed, as get_attempts reads them.
--   ?1 now   ?2 limit
SELECT id, status, lease_token, lease_until, ended_token, cancel_wanted, attempts, max_attempts, snoozes, expires_at, errors
FROM   jobs INDEXED BY jobs_expiring
WHERE  status = 1 AND expires_at IS NOT NULL AND expires_at <= ?1 AND {sound ?1}
ORDER BY expires_at LIMIT ?2
