-- Delete idempotency keys that are past their time, the oldest first.
--   $1 clock offset  $2 how long beyond it  $3 most  $4 behind so many
DELETE FROM belfry.idempotency_keys
WHERE  ctid = ANY (ARRAY(SELECT ctid FROM belfry.idempotency_keys WHERE expires_at < {now} - $2::interval
                         ORDER BY expires_at LIMIT $3::bigint OFFSET $4::bigint FOR UPDATE SKIP LOCKED))
RETURNING true;
