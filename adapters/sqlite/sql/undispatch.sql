-- Make the dispatch lease of a queued row pass now.
--   ?1 id   ?2 token   ?3 now
UPDATE jobs SET lease_until = ?3, reap_at = ?3 WHERE id = ?1 AND lease_token = ?2 AND status = 2
