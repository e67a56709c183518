-- Keep an answer under an idempotency key, in the place of one that is past its time. No row changes where another one stands.
--   ?1 holder   ?2 key   ?3 hash   ?4 status   ?5 answer   ?6 expires at   ?7 now
INSERT INTO idempotency_keys (holder, key, hash, status, answer, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (holder, key) DO UPDATE SET hash = excluded.hash, status = excluded.status, answer = excluded.answer, expires_at = excluded.expires_at
WHERE idempotency_keys.expires_at <= ?7
