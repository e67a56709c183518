-- Leave a running job to its target.
--   ?1 id   ?2 lease until   ?3 worker id
UPDATE jobs SET lease_until = ?2, reap_at = ?2, claim_id = 0, worker_id = ?3 WHERE id = ?1
