-- Extend leases. reap_at stays: the reaper looks at it, sees the lease and moves it itself.
--   ?1 ids as a JSON array   ?2 lease until
UPDATE jobs SET lease_until = ?2 WHERE id IN (SELECT value FROM json_each(?1))
