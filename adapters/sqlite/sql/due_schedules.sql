-- The ids of schedules that need to be advanced, of held buckets; one can come more than once.
--   ?1 now   ?2 held buckets as bits   ?3 most   ?4 those that wait: ids above   ?5 how many
SELECT id FROM (SELECT id FROM schedules INDEXED BY schedules_due WHERE next_due IS NOT NULL AND next_due <= ?1 AND {schedule ?1} AND (?2 >> (id & 63)) & 1 ORDER BY next_due LIMIT ?3)
UNION ALL
SELECT id FROM (SELECT s.id, s.tenant, s.name FROM schedules s INDEXED BY schedules_waiting
	WHERE s.waiting IS NOT NULL AND s.id > ?4 AND s.{schedule ?1} AND (?2 >> (s.id & 63)) & 1 ORDER BY s.id LIMIT ?5) AS w
WHERE NOT EXISTS (SELECT 1 FROM jobs j INDEXED BY jobs_of_schedules WHERE j.tenant = w.tenant AND j.schedule = w.name)
UNION ALL
SELECT id FROM (SELECT id FROM schedules INDEXED BY schedules_expecting WHERE expect_by IS NOT NULL AND expect_by <= ?1 AND {schedule ?1} AND (?2 >> (id & 63)) & 1 ORDER BY expect_by LIMIT ?3)
