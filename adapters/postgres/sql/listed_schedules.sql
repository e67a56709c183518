-- Schedules by id, by tenant and name.
--   $1 ids
SELECT {listed_schedule} FROM belfry.schedules s WHERE s.id = ANY ($1::bigint[]) ORDER BY s.tenant, s.name;
