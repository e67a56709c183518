-- What is kept under an idempotency key.
--   ?1 holder   ?2 key   ?3 now
SELECT hash, status, answer FROM idempotency_keys WHERE holder = ?1 AND key = ?2 AND expires_at > ?3
