-- Tokens by id.
--   ?1 above this id   ?2 limit
SELECT id, name, hash, role, tenant, created_at, expires_at FROM tokens WHERE id > ?1 ORDER BY id LIMIT ?2
