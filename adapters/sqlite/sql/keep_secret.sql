-- Keep a secret of the installation, unless one of that name is there.
--   ?1 name   ?2 value
INSERT INTO secrets (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING
