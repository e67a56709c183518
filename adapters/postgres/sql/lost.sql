-- Running jobs whose lease has passed, by id (id + 0: read by jobs_running, not the whole table by id). A lease that never
-- ends is nobody's, and a row that the reaper was never to look at is looked at all the same.
--   $1 clock offset  $2 most  $3 ids above
SELECT {of_lost}
FROM  (SELECT * FROM belfry.jobs WHERE status = 3 AND reap_at <= {now} AND {passed} AND (id + 0) > $3::bigint AND {sound}
       UNION ALL
       SELECT * FROM belfry.jobs WHERE status = 3 AND reap_at > {never} AND {passed} AND (id + 0) > $3 AND {sound}) j
ORDER  BY (id + 0)
LIMIT  $2::bigint;
