-- The status of those ids that have ended.
--   $1 ids
SELECT id, status FROM belfry.dead_letters WHERE id = ANY ($1::bigint[])
UNION ALL
SELECT id, status FROM belfry.job_history WHERE id = ANY ($1::bigint[])
UNION ALL
SELECT id, status FROM belfry.job_history_overflow WHERE id = ANY ($1::bigint[]);
