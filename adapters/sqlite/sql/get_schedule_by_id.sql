-- One schedule, and whether a run of it is active.
--   ?1 id
SELECT s.*, COALESCE((SELECT zone_mark FROM schedule_marks m WHERE m.schedule_id = s.id), ''),
	COALESCE((SELECT unreadable FROM schedule_marks m WHERE m.schedule_id = s.id), 0),
	EXISTS (SELECT 1 FROM jobs j INDEXED BY jobs_of_schedules WHERE j.tenant = s.tenant AND j.schedule = s.name)
FROM   schedules s WHERE s.id = ?1
