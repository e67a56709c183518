-- Delete alerts that were over long ago, the oldest first.
--   $1 clock offset  $2 retention  $3 most  $4 behind so many
DELETE FROM belfry.alerts
WHERE  id = ANY (ARRAY(SELECT id FROM belfry.alerts WHERE cleared_at < {now} - $2::interval
                       ORDER BY cleared_at LIMIT $3::bigint OFFSET $4::bigint FOR UPDATE SKIP LOCKED))
RETURNING id;
