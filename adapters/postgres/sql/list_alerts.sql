-- Alerts, newest first. Of those with an event that is not sent the ones that are set apart are left out.
--   $1 clock offset  $2 tenant or null  $3 kind or ''  $4 open ones only  $5 with an event that is not sent only  $6 ids below, or 0  $7 most
SELECT id, kind, tenant, subject, detail, raised_at, cleared_at, count
FROM   belfry.alerts
WHERE  ($2::text IS NULL OR tenant = $2) AND ($3::text = '' OR kind = $3) AND (NOT $4::boolean OR cleared_at IS NULL)
  AND  (NOT $5::boolean OR (sent = 0 OR sent = 1 AND cleared_at IS NOT NULL) AND {alert_sound}) AND ($6::bigint = 0 OR id < $6)
ORDER  BY id DESC
LIMIT  $7::bigint;
