-- Tokens by id.
--   $1 above this id  $2 most
SELECT id, name, hash, role, tenant, created_at, expires_at
FROM   belfry.tokens
WHERE  id > $1::text
ORDER  BY id
LIMIT  $2::bigint;
