-- Forget rows that no longer count as set apart: they were met again and did not fail.
--   $1 clock offset  $2 for how long  $3 most  $4 behind so many
DELETE FROM belfry.set_apart
WHERE  (kind, row_id, name) IN (SELECT kind, row_id, name FROM belfry.set_apart WHERE retry_at + {apart_over} + $2::interval < {now} ORDER BY retry_at LIMIT $3::bigint OFFSET $4::bigint FOR UPDATE SKIP LOCKED)
RETURNING row_id;
