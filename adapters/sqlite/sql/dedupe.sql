-- The live job that holds a dedupe key.
--   ?1 tenant   ?2 key, not empty
SELECT * FROM jobs WHERE tenant = ?1 AND dedupe_key = ?2 AND dedupe_key <> ''
