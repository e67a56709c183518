-- How many schedules are active, paused and ended, of up to a cap. It reads each of them.
--   $1 cap
SELECT count(*) FILTER (WHERE NOT paused AND next_due IS NOT NULL),
       count(*) FILTER (WHERE paused),
       count(*) FILTER (WHERE NOT paused AND next_due IS NULL)
FROM  (SELECT paused, next_due FROM belfry.schedules LIMIT $1::bigint) s;
