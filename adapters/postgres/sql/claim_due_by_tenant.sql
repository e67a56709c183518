-- Make due rows of the quotas running, tenant by tenant, at most so many each. The next tenant is found by a loose
-- scan, as far as rows are still wanted. A tenant without a due row counts as a row, so the limit bounds the visits too.
--   $1 clock offset  $2 lease  $3 worker  $4 claim id
--   $5 … $9 one element per quota: priorities, types, limits, rows per tenant, tenants begun after
-- Kind 0: claimed. Kind 1: may not run, left as it was, to be ended by end_refused.
-- Kind 2: for a quota (id), rows and visits (lease_token), the last visit's number (ended_token) and its tenant.
WITH given AS MATERIALIZED (
    SELECT *
    FROM   unnest($5::smallint[], $6::text[], $7::bigint[], $8::bigint[], $9::text[])
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
              AND  run_at <= {now} AND {sound} {targeted}
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
    SET    status = 3, attempts = attempts + 1, lease_token = {next_token}, claim_id = $4, worker_id = $3,
           started_at = {now}, lease_until = {now} + $2::interval, reap_at = {now} + $2::interval
    WHERE  ctid = ANY (ARRAY(SELECT place FROM picked WHERE may_run))
    RETURNING {record}
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
