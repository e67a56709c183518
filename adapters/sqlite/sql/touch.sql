-- Change a row in flight without changing it.
--   ?1 id
UPDATE jobs SET lease_until = lease_until, reap_at = reap_at WHERE id = ?1
