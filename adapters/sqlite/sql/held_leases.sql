-- The bucket leases of a holder.
--   ?1 holder
SELECT bucket, token FROM scheduler_leases WHERE holder = ?1 AND bucket BETWEEN 0 AND 63 ORDER BY bucket
