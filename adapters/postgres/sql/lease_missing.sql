-- The buckets that have no row, because somebody deleted it.
SELECT b::bigint
FROM   generate_series(0, 63) AS b
WHERE  NOT EXISTS (SELECT FROM belfry.scheduler_leases WHERE bucket = b)
ORDER  BY b;
