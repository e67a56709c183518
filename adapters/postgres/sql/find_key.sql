-- What is kept under an idempotency key.
--   $1 clock offset  $2 holder  $3 key
SELECT hash, status, answer FROM belfry.idempotency_keys WHERE holder = $2::text AND key = $3::text AND expires_at > {now};
