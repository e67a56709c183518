-- Forget rows that were set apart, met again and did not fail.
--   $1 clock offset  $2 how long ago  $3 most  $4 behind so many
DELETE FROM belfry.set_apart
WHERE  (kind, row_id, name) IN (SELECT kind, row_id, name FROM belfry.set_apart WHERE retry_at + $2::interval < {now} ORDER BY retry_at LIMIT $3::bigint OFFSET $4::bigint FOR UPDATE SKIP LOCKED)
RETURNING row_id;
