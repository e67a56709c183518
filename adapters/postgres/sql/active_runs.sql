-- The live jobs of a schedule, at most 1,000.
--   $1 tenant  $2 schedule
SELECT id FROM belfry.jobs WHERE tenant = $1::text AND schedule = $2::text ORDER BY id LIMIT 1000;
