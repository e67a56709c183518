-- Schedules whose next instant was computed with another version of the time zone database.
--   ?1 this version   ?2 most
SELECT s.*, COALESCE((SELECT zone_mark FROM schedule_marks m WHERE m.schedule_id = s.id), ''),
	COALESCE((SELECT unreadable FROM schedule_marks m WHERE m.schedule_id = s.id), 0),
	EXISTS (SELECT 1 FROM jobs j INDEXED BY jobs_of_schedules WHERE j.tenant = s.tenant AND j.schedule = s.name)
FROM   schedules s WHERE s.tz_data <> '' AND s.tz_data <> ?1
LIMIT  ?2
