-- Keep a token, unless its id is taken.
--   ?1 id   ?2 name   ?3 hash   ?4 role   ?5 tenant   ?6 now   ?7 expires at or NULL
INSERT INTO tokens (id, name, hash, role, tenant, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING
