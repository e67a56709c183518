-- Mark due rows of the quotas queued, tenant by tenant, where the holder has the lease of their bucket.
--   $1 clock offset  $2 dispatch lease  $3 holder
--   $4 … $8 one element per quota: priorities, types, limits, rows per tenant, tenants begun after
-- The bucket leases are locked first: a holder deposed meanwhile finds none and changes no row, and whoever takes them
-- over waits for this transaction. Kinds as in claim_due_by_tenant, fences as in dispatch.
WITH held AS MATERIALIZED (
    SELECT bucket, token
    FROM   belfry.scheduler_leases
    WHERE  holder = $3 AND expires_at > clock_timestamp() + $1::interval
    ORDER  BY bucket
    FOR    SHARE
),
fences AS MATERIALIZED (
    SELECT array_agg(h.token ORDER BY b) AS tokens
    FROM   generate_series(0, 63) b LEFT JOIN held h ON h.bucket = b
),
given AS MATERIALIZED (
    SELECT *
    FROM   unnest($4::smallint[], $5::text[], $6::bigint[], $7::bigint[], $8::text[])
           WITH ORDINALITY AS g (priority, type, want, per_tenant, after_tenant, quota)
),
picked AS MATERIALIZED (
    SELECT q.quota, q.priority, q.type, p.*
    FROM   given q CROSS JOIN LATERAL (
        WITH RECURSIVE visit AS (
            SELECT 0 AS step, false AS wrapped, q.after_tenant COLLATE "C" AS tenant
            UNION ALL
            SELECT v.step + 1, n.wrapped, n.tenant
            FROM   visit v CROSS JOIN LATERAL (
                (SELECT v.wrapped, tenant FROM belfry.jobs
                 WHERE  status = 1 AND priority = q.priority AND type = q.type AND tenant > v.tenant
                 ORDER  BY tenant LIMIT 1)
                UNION ALL
                (SELECT true, tenant FROM belfry.jobs
                 WHERE  status = 1 AND priority = q.priority AND type = q.type AND NOT v.wrapped
                 ORDER  BY tenant LIMIT 1)
                LIMIT 1
            ) n
            WHERE  NOT n.wrapped OR n.tenant <= q.after_tenant
        )
        SELECT r.place, r.id, r.run_at, v.tenant, r.lease_token, r.may_run, v.step
        FROM   visit v LEFT JOIN LATERAL (
            SELECT ctid AS place, id, run_at, lease_token, {may_run} AS may_run
            FROM   belfry.jobs
            WHERE  status = 1 AND priority = q.priority AND type = q.type AND tenant = v.tenant
              AND  run_at <= {now} AND {sound}
               AND  (SELECT tokens FROM fences)[(id & 63)::integer + 1] IS NOT NULL
            ORDER  BY run_at, id
            LIMIT  q.per_tenant
            FOR    UPDATE SKIP LOCKED
        ) r ON true
        WHERE  v.step > 0
        LIMIT  q.want
    ) p
),
taken AS (
    UPDATE belfry.jobs
    SET    status = 2, lease_until = {now} + $2::interval, reap_at = {now} + $2::interval, dispatches = 1,
           dispatch_fence = (SELECT tokens FROM fences)[(id & 63)::integer + 1]
    WHERE  ctid = ANY (ARRAY(SELECT place FROM picked WHERE may_run))
    RETURNING {brief}
)
SELECT 0 AS kind, t.* FROM taken t
UNION ALL
SELECT 1, id, run_at, NULL, NULL, NULL, lease_token, 0, 0, 0, 0, 0, 0, 0, priority, type, tenant, NULL, 0, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM   picked WHERE NOT may_run
UNION ALL
SELECT 2, quota, NULL, NULL, NULL, NULL, count(*), max(step), 0, 0, 0, 0, 0, 0, 0, '', (array_agg(tenant ORDER BY step DESC))[1],
       NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM   picked GROUP BY quota;
