-- Wait for whoever advances a schedule, so that the statement after this one sees all that was written with it.
--   $1 tenant  $2 name
SELECT true FROM belfry.schedules WHERE tenant = $1::text AND name = $2::text FOR UPDATE;
