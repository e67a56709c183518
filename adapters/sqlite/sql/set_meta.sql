-- Remember one number of the store.
--   ?1 name   ?2 value
INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
