-- Delete rows of the overflow history that are past retention.
--   $1 clock offset  $2 retention  $3 most  $4 behind so many
DELETE FROM belfry.job_history_overflow
WHERE  ctid = ANY (ARRAY(SELECT ctid FROM belfry.job_history_overflow WHERE finished_at < {now} - $2::interval LIMIT $3::bigint OFFSET $4::bigint FOR UPDATE SKIP LOCKED))
RETURNING id;
