-- Live rows of one tenant by priority, each count up to a cap, at which it stops. Waiting rows are counted lane by lane, and those in flight
-- among the first of them up to the cap. The tenant is a row and no constant, which would let the index of tenants' rows
-- by time alone look fit.
--   $1 clock offset  $2 cap  $3 tenant
WITH RECURSIVE given AS MATERIALIZED (
    SELECT $3::text AS tenant
), lanes AS (
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
    FROM   lanes l CROSS JOIN given g CROSS JOIN LATERAL (
        SELECT run_at FROM belfry.jobs
        WHERE  status = 1 AND priority = l.priority AND type = l.type AND tenant = g.tenant AND run_at <= {now}
        ORDER  BY run_at LIMIT 1
    ) r
    GROUP  BY l.priority
), flight AS MATERIALIZED (
    SELECT priority, count(*) FILTER (WHERE status = 2) AS queued, count(*) FILTER (WHERE status = 3) AS running
    FROM  ((SELECT priority, tenant, status FROM belfry.jobs WHERE status = 2 ORDER BY reap_at LIMIT $2)
           UNION ALL
           (SELECT priority, tenant, status FROM belfry.jobs WHERE status = 3 ORDER BY reap_at LIMIT $2)) f
    WHERE  tenant = $3
    GROUP  BY priority
)
SELECT p.priority,
       (SELECT count(*)
        FROM  (SELECT FROM lanes l CROSS JOIN given g CROSS JOIN LATERAL (
                   SELECT FROM belfry.jobs WHERE status = 1 AND priority = l.priority AND type = l.type AND tenant = g.tenant ORDER BY run_at LIMIT $2::bigint) w
               WHERE l.priority = p.priority LIMIT $2) c),
       (SELECT count(*)
        FROM  (SELECT FROM lanes l CROSS JOIN given g CROSS JOIN LATERAL (
                   SELECT FROM belfry.jobs WHERE status = 1 AND priority = l.priority AND type = l.type AND tenant = g.tenant AND run_at <= {now} ORDER BY run_at LIMIT $2) w
               WHERE l.priority = p.priority LIMIT $2) c),
       coalesce((SELECT queued FROM flight WHERE priority = p.priority), 0),
       coalesce((SELECT running FROM flight WHERE priority = p.priority), 0),
       (SELECT run_at FROM oldest WHERE priority = p.priority)
FROM   generate_series(1, 3) AS p (priority)
ORDER  BY p.priority;
