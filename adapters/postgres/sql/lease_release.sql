-- Give the holder's leases up as clean: what it queued is published and need not be again.
--   $1 holder
WITH mine AS MATERIALIZED (
    SELECT bucket AS b FROM belfry.scheduler_leases WHERE holder = $1::text ORDER BY bucket FOR UPDATE
)
UPDATE belfry.scheduler_leases SET holder = '', clean = true, expires_at = '-infinity' FROM mine WHERE bucket = b;
