-- Live rows by priority, each count up to a cap. Lanes are found by a loose scan; due rows are counted lane by lane, so
-- that rows ahead are not read.
--   $1 clock offset  $2 cap
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
), due AS (
    SELECT l.priority, l.type, d.n, d.oldest
    FROM   lanes l CROSS JOIN LATERAL (
        SELECT count(*) AS n, min(run_at) AS oldest
        FROM  ((SELECT run_at FROM belfry.jobs
                WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant = '' AND run_at <= {now}
                ORDER  BY run_at LIMIT $2::bigint)
               UNION ALL
               (SELECT run_at FROM belfry.jobs
                WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant <> '' AND run_at <= {now}
                ORDER  BY run_at LIMIT $2)) r
    ) d
)
SELECT p.priority,
       (SELECT count(*) FROM (SELECT FROM belfry.jobs WHERE status = 1 AND priority = p.priority LIMIT $2) c),
       least((SELECT coalesce(sum(n), 0) FROM due WHERE priority = p.priority), $2)::bigint,
       (SELECT count(*) FROM (SELECT FROM belfry.jobs WHERE status = 2 AND priority = p.priority LIMIT $2) c),
       (SELECT count(*) FROM (SELECT FROM belfry.jobs WHERE status = 3 AND priority = p.priority LIMIT $2) c),
       (SELECT min(oldest) FROM due WHERE priority = p.priority),
       least((SELECT coalesce(sum(n), 0) FROM due WHERE priority = p.priority
              AND NOT EXISTS (SELECT FROM belfry.job_types t
                              WHERE t.type = due.type AND t.announced_at IS NOT NULL AND (t.unhandled_until IS NULL OR t.unhandled_until <= {now}))), $2)::bigint
FROM   generate_series(1, 3) AS p (priority)
ORDER  BY p.priority;
