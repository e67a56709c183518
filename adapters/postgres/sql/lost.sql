-- Running jobs whose lease has passed, by id (id + 0: read by jobs_running, not the whole table by id).
--   $1 clock offset  $2 most  $3 ids above
SELECT {live}
FROM   belfry.jobs
WHERE  status = 3 AND reap_at <= {now} AND lease_until <= {now} AND (id + 0) > $3::bigint
ORDER  BY (id + 0)
LIMIT  $2::bigint;
