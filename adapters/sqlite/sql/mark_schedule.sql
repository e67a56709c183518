-- Keep what a schedule's zone showed at accounted, and whether its rule can be read.
--   ?1 tenant   ?2 name   ?3 zone_mark   ?4 unreadable
INSERT INTO schedule_marks (schedule_id, zone_mark, unreadable) SELECT id, ?3, ?4 FROM schedules WHERE tenant = ?1 AND name = ?2
ON CONFLICT (schedule_id) DO UPDATE SET zone_mark = excluded.zone_mark, unreadable = excluded.unreadable
