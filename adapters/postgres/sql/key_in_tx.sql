-- The live job that holds a dedupe key, after submit_in_tx wrote nothing. No row: the key came free meanwhile.
--   $1 tenant  $2 dedupe key
SELECT id, run_at, created_at FROM belfry.jobs WHERE tenant = $1::text AND dedupe_key = $2::text AND dedupe_key IS NOT NULL;
