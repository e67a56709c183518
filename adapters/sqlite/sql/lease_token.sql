-- The token of a bucket lease that stands.
--   ?1 bucket   ?2 now
SELECT token FROM scheduler_leases WHERE bucket = ?1 AND holder <> '' AND expires_at > ?2
