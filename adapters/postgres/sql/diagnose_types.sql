-- Types with due jobs that no process handles, and how many jobs, each up to a cap. Lanes are found by a loose scan.
--   $1 cap  $2 most types
WITH RECURSIVE lanes AS (
    (SELECT priority, type FROM belfry.jobs WHERE status = 1 ORDER BY priority, type LIMIT 1)
    UNION ALL
    SELECT n.priority, n.type
    FROM   lanes l CROSS JOIN LATERAL (
        SELECT priority, type
        FROM   belfry.jobs
        WHERE  status = 1 AND (priority, type) > (l.priority, l.type)
        ORDER  BY priority, type LIMIT 1
    ) n
)
SELECT l.type, least(sum(d.n), $1::bigint)::bigint
FROM   lanes l CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM  (SELECT FROM belfry.jobs WHERE status = 1 AND priority = l.priority AND type = l.type AND run_at <= now() LIMIT $1::bigint) r
) d
WHERE  NOT EXISTS (SELECT FROM belfry.job_types t
                   WHERE t.type = l.type AND t.announced_at IS NOT NULL AND (t.unhandled_until IS NULL OR t.unhandled_until <= now()))
GROUP  BY l.type
HAVING sum(d.n) > 0
ORDER  BY 2 DESC, 1
LIMIT  $2::bigint;
