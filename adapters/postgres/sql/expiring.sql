-- Scheduled jobs whose expires_at has passed.
--   $1 clock offset  $2 most
SELECT id, lease_token, type
FROM   belfry.jobs
WHERE  (status + 0) = 1 AND expires_at IS NOT NULL AND expires_at <= {now} AND {sound}
ORDER  BY expires_at
LIMIT  $2::bigint;
