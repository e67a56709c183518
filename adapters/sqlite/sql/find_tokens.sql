-- The tokens of these ids, expired or not.
--   ?1 ids as a JSON array
SELECT id, name, hash, role, tenant, created_at, expires_at FROM tokens WHERE id IN (SELECT value FROM json_each(?1))
