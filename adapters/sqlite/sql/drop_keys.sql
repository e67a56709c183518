-- Delete idempotency keys that are past their time, the oldest first.
--   ?1 expired before   ?2 limit   ?3 behind so many
DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2 OFFSET ?3)
