-- Note jobs of a group that failed for good.
--   ?1 type   ?2 error group   ?3 how many   ?4 the newest   ?5 now
INSERT INTO failure_notes (type, error_group, count, newest, at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (type, error_group) DO UPDATE SET count = MIN(count, 9223372036854775807 - excluded.count) + excluded.count, newest = excluded.newest, at = excluded.at
