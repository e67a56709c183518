-- The store's clock, how many buckets have a row, and the buckets held with their tokens.
--   $1 clock offset  $2 holder
SELECT {now}, bucket, token, (SELECT count(*) FROM belfry.scheduler_leases WHERE bucket BETWEEN 0 AND 63)
FROM   (SELECT) one LEFT JOIN belfry.scheduler_leases
       ON bucket BETWEEN 0 AND 63 AND holder = $2::text AND expires_at > clock_timestamp() + $1::interval
ORDER  BY bucket;
