-- Mark rows queued under the lease of their bucket; the dispatch lease doubles with each publishing.
--   ?1 ids as a JSON array   ?2 now   ?3 first lease   ?4 longest lease
UPDATE jobs
SET    status = 2, lease_until = ?2 + MIN(?3 << MIN(dispatches, 20), ?4), reap_at = ?2 + MIN(?3 << MIN(dispatches, 20), ?4),
       dispatches = MIN(dispatches + 1, 1000000), dispatch_fence = (SELECT token FROM scheduler_leases WHERE bucket = jobs.id & 63)
WHERE  id IN (SELECT value FROM json_each(?1))
