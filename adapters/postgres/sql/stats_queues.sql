-- Live rows by priority, each count up to a cap, at which it stops. Lanes are found by a loose scan; due rows are counted
-- lane by lane, so that rows ahead are not read.
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
), oldest AS (
    SELECT l.priority, min(r.run_at) AS run_at
    FROM   lanes l CROSS JOIN LATERAL (
        (SELECT run_at FROM belfry.jobs
         WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant = '' AND run_at <= {now}
         ORDER  BY run_at LIMIT 1)
        UNION ALL
        (SELECT run_at FROM belfry.jobs
         WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant <> '' AND run_at <= {now}
         ORDER  BY run_at LIMIT 1)
    ) r
    GROUP  BY l.priority
)
SELECT p.priority,
       (SELECT count(*) FROM (SELECT FROM belfry.jobs WHERE status = 1 AND priority = p.priority LIMIT $2::bigint) c),
       (SELECT count(*) FROM (SELECT FROM lanes l CROSS JOIN LATERAL ({due}) d WHERE l.priority = p.priority LIMIT $2) c),
       (SELECT count(*) FROM (SELECT FROM belfry.jobs WHERE status = 2 AND priority = p.priority LIMIT $2) c),
       (SELECT count(*) FROM (SELECT FROM belfry.jobs WHERE status = 3 AND priority = p.priority LIMIT $2) c),
       (SELECT run_at FROM oldest WHERE priority = p.priority)
FROM   generate_series(1, 3) AS p (priority)
ORDER  BY p.priority;
