-- The lanes (priority and type) that have scheduled rows, each with the run_at of its first, found by a loose scan that
-- reads a few rows for each lane. For the tick, types marked unhandled are left out and, unless it is asked otherwise,
-- those that no live worker handles that receives from queues.
--   $1 clock offset  $2 types that nobody announces, too
-- The first row of a lane is the first of those without a tenant, if there are any: it is not looked for again, past
-- all entries of rows that a tick has just taken.
WITH RECURSIVE lanes AS (
    (SELECT priority, type, tenant, run_at FROM belfry.jobs WHERE status = 1 ORDER BY priority, type, tenant, run_at LIMIT 1)
    UNION ALL
    SELECT n.priority, n.type, n.tenant, n.run_at
    FROM   lanes l CROSS JOIN LATERAL (
        SELECT priority, type, tenant, run_at
        FROM   belfry.jobs
        WHERE  status = 1 AND (priority, type) > (l.priority, l.type)
        ORDER  BY priority, type, tenant, run_at LIMIT 1
    ) n
), {consumers}
SELECT l.priority, l.type, least(CASE WHEN l.tenant = '' THEN l.run_at END, f.run_at)
FROM   lanes l LEFT JOIN LATERAL (
    SELECT run_at FROM belfry.jobs
    WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant <> ''
    ORDER  BY run_at LIMIT 1
) f ON true
{where_published};
