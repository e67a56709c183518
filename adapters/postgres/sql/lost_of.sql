-- Some of the jobs that lost lists.
--   $1 ids
SELECT {of_lost} FROM belfry.jobs WHERE id = ANY ($1::bigint[]) ORDER BY (id + 0);
