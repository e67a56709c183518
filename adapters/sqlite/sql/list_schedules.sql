-- Schedules by tenant and name.
--   ?1 tenant or NULL   ?2 type or ''   ?3 paused or NULL   ?4 after this tenant   ?5 and name   ?6 most
SELECT s.*, COALESCE((SELECT zone_mark FROM schedule_marks m WHERE m.schedule_id = s.id), ''),
	COALESCE((SELECT unreadable FROM schedule_marks m WHERE m.schedule_id = s.id), 0),
	EXISTS (SELECT 1 FROM jobs j INDEXED BY jobs_of_schedules WHERE j.tenant = s.tenant AND j.schedule = s.name)
FROM   schedules s
WHERE  (s.tenant, s.name) > (?4, ?5) AND (?1 IS NULL OR s.tenant = ?1) AND (?2 = '' OR s.type = ?2) AND (?3 IS NULL OR s.paused = ?3)
ORDER  BY s.tenant, s.name
LIMIT  ?6
