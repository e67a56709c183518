-- Delete dead letters that are past retention, the oldest first.
--   $1 clock offset  $2 retention  $3 most  $4 behind so many
DELETE FROM belfry.dead_letters
WHERE  id = ANY (ARRAY(SELECT id FROM belfry.dead_letters WHERE finished_at < {now} - $2::interval
                       ORDER BY finished_at LIMIT $3::bigint OFFSET $4::bigint FOR UPDATE SKIP LOCKED))
RETURNING id;
