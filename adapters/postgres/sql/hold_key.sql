-- Hold an idempotency key until the transaction ends, unless another does: false, without waiting.
--   $1 the key's number
SELECT pg_try_advisory_xact_lock($1::bigint);
