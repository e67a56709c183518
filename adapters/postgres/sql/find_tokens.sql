-- The tokens of these ids, expired or not.
--   $1 ids
SELECT id, name, hash, role, tenant, created_at, expires_at FROM belfry.tokens WHERE id = ANY($1::text[]);
