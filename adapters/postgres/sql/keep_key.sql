-- Keep an answer under an idempotency key, in the place of one that is past its time. No row comes back where another
-- answer stands.
--   $1 clock offset  $2 holder  $3 key  $4 hash  $5 status  $6 answer  $7 how long it is kept
INSERT INTO belfry.idempotency_keys AS k (holder, key, hash, status, answer, expires_at)
VALUES ($2::text, $3::text, $4::bytea, $5::bigint, $6::bytea, {now} + $7::interval)
ON CONFLICT (holder, key) DO UPDATE
SET    hash = excluded.hash, status = excluded.status, answer = excluded.answer, expires_at = excluded.expires_at
WHERE  k.expires_at <= {now}
RETURNING true;
