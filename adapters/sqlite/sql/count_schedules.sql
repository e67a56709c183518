-- How many schedules are active, paused and ended, of up to a cap. It reads each of them.
--   ?1 cap
SELECT COUNT(*) FILTER (WHERE NOT paused AND next_due IS NOT NULL), COUNT(*) FILTER (WHERE paused), COUNT(*) FILTER (WHERE NOT paused AND next_due IS NULL)
FROM (SELECT paused, next_due FROM schedules LIMIT ?1)
