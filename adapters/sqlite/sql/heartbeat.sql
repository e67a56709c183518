-- Extend leases. reap_at stays: the reaper looks at it, sees the lease and moves it itself.
-- A target's lease is never shortened: a worker's heartbeat may come after its acceptance.
--   ?1 ids as a JSON array   ?2 lease until   ?3 the worker id of targets
UPDATE jobs SET lease_until = CASE WHEN worker_id = ?3 AND lease_until > ?2 THEN lease_until ELSE ?2 END
WHERE id IN (SELECT value FROM json_each(?1))
