-- The lanes (priority and type) that have scheduled rows, each with the run_at of its first, found by a loose scan that
-- reads a few rows for each lane. Types marked unhandled are left out.
--   $1 clock offset
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
SELECT l.priority, l.type, min(f.run_at)
FROM   lanes l CROSS JOIN LATERAL (
    (SELECT run_at FROM belfry.jobs
     WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant = ''
     ORDER  BY run_at LIMIT 1)
    UNION ALL
    (SELECT run_at FROM belfry.jobs
     WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant <> ''
     ORDER  BY run_at LIMIT 1)
) f
WHERE  NOT EXISTS (SELECT FROM belfry.job_types t WHERE t.type = l.type AND t.unhandled_until > {now})
GROUP  BY l.priority, l.type;
