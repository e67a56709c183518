-- The ids and types of the rows that expire finds.
--   the parameters of expire
SELECT id, type FROM jobs INDEXED BY jobs_expiring
WHERE  status = 1 AND expires_at IS NOT NULL AND expires_at <= ?1 AND {sound ?1}
ORDER BY expires_at LIMIT ?2
