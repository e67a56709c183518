-- One schedule, and whether a run of it is active.
--   $1 tenant  $2 name
SELECT {schedule}, EXISTS (SELECT FROM belfry.jobs j WHERE j.tenant = s.tenant AND j.schedule = s.name)
FROM   belfry.schedules s
WHERE  s.tenant = $1::text AND s.name = $2::text;
