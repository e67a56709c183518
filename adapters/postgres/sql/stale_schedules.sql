-- Schedules whose next instant was computed with another version of the time zone database.
--   $1 this version  $2 most
SELECT {listed_schedule}
FROM   (
    (SELECT * FROM belfry.schedules WHERE tz_data <> '' AND tz_data < $1::text ORDER BY tz_data LIMIT $2::bigint)
    UNION ALL
    (SELECT * FROM belfry.schedules WHERE tz_data <> '' AND tz_data > $1 ORDER BY tz_data LIMIT $2)
) s
LIMIT  $2;
