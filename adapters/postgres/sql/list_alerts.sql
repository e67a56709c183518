-- Alerts, newest first.
--   $1 tenant or null  $2 kind or ''  $3 open ones only  $4 with an event that is not sent only  $5 ids below, or 0  $6 most
SELECT id, kind, tenant, subject, detail, raised_at, cleared_at, count
FROM   belfry.alerts
WHERE  ($1::text IS NULL OR tenant = $1) AND ($2::text = '' OR kind = $2) AND (NOT $3::boolean OR cleared_at IS NULL)
  AND  (NOT $4::boolean OR sent = 0 OR sent = 1 AND cleared_at IS NOT NULL) AND ($5::bigint = 0 OR id < $5)
ORDER  BY id DESC
LIMIT  $6::bigint;
