-- One token, expired or not.
--   $1 id
SELECT id, name, hash, role, tenant, created_at, expires_at FROM belfry.tokens WHERE id = $1::text;
