-- Queued and running jobs that match, the newest id first, found among the rows in flight however many wait. Where
-- more than $2 are queued or running, some may be missing, and the first row to come back is marked as cut.
--   the parameters of list
SELECT {record}, status, lease_until, cancel_wanted, finished_at, result, reason, matches, n = $2 AS cut
FROM  (SELECT f.*, coalesce(f.id < $3::bigint AND status = ANY ($4::smallint[]) AND ($5::text = '' OR type = $5) AND ($6::text IS NULL OR tenant = $6)
                AND ($7::smallint = 0 OR priority = $7) AND ($8::text = '' OR $8 = ANY (tags))
                AND ($9::timestamptz IS NULL OR run_at >= $9) AND ($10::timestamptz IS NULL OR run_at < $10)
                AND $11::text = '' AND $12::timestamptz IS NULL AND ($13::text = '' OR schedule = $13), false) AS matches
       FROM ((SELECT {live}, row_number() OVER (ORDER BY reap_at) AS n FROM belfry.jobs WHERE status = 2 ORDER BY reap_at LIMIT $2::bigint)
             UNION ALL
             (SELECT {live}, row_number() OVER (ORDER BY reap_at) AS n FROM belfry.jobs WHERE status = 3 ORDER BY reap_at LIMIT $2)) f) w
WHERE  matches OR n = $2
ORDER  BY cut DESC, id DESC
LIMIT  $1::bigint;
