-- Alerts, newest first.
--   ?1 tenant or NULL   ?2 kind or ''   ?3 open ones only   ?4 with an event that is not sent only   ?5 ids below   ?6 most   ?7 now
SELECT id, kind, tenant, subject, detail, raised_at, cleared_at, count FROM alerts
WHERE  (?1 IS NULL OR tenant = ?1) AND (?2 = '' OR kind = ?2) AND (NOT ?3 OR cleared_at IS NULL)
	AND (NOT ?4 OR (sent = 0 OR sent = 1 AND cleared_at IS NOT NULL) AND {alert ?7}) AND id < ?5
ORDER  BY id DESC LIMIT ?6
