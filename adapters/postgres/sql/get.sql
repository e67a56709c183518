-- Jobs by id, wherever they are. In one snapshot a job is in one table.
--   $1 ids
SELECT {live} FROM belfry.jobs WHERE id = ANY ($1::bigint[])
UNION ALL
SELECT {ended} FROM belfry.dead_letters WHERE id = ANY ($1::bigint[])
UNION ALL
SELECT {ended} FROM belfry.job_history WHERE id = ANY ($1::bigint[])
UNION ALL
SELECT {ended} FROM belfry.job_history_overflow WHERE id = ANY ($1::bigint[]);
