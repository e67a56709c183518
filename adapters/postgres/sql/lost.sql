-- Running jobs whose lease has passed, by id.
--   $1 clock offset  $2 most  $3 ids above
SELECT {live}
FROM   belfry.jobs
WHERE  status = 3 AND reap_at <= {now} AND lease_until <= {now} AND id > $3::bigint
ORDER  BY id
LIMIT  $2::bigint;
