-- Make the dispatch lease of a queued row pass now, which was not published: that does not count.
--   ?1 id   ?2 token   ?3 now
UPDATE jobs SET lease_until = ?3, reap_at = ?3, dispatches = MAX(dispatches, 1) - 1 WHERE id = ?1 AND lease_token = ?2 AND status = 2
