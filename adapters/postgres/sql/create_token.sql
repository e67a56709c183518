-- Keep a token. No row comes back where its id is taken.
--   $1 clock offset  $2 id  $3 name  $4 hash  $5 role  $6 tenant  $7 expires at or null
INSERT INTO belfry.tokens (id, name, hash, role, tenant, created_at, expires_at)
VALUES ($2::text, $3::text, $4::bytea, $5::text, $6::text, {now}, $7::timestamptz)
ON CONFLICT (id) DO NOTHING
RETURNING id, name, hash, role, tenant, created_at, expires_at;
