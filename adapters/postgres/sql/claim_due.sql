-- Make due rows of the quotas running, each lane in order of run_at. Rows that others have locked are passed over.
-- Rows without a tenant are read from one index and those with one from another, each up to the limit, and merged: in a
-- lane that has many of both, up to twice the limit are locked, until this transaction ends. A row that another
-- transaction changed after this statement began is locked and left: its place is new, and the next claim takes it.
--   $1 clock offset  $2 lease  $3 worker  $4 claim id
--   $5 … $9 one element per quota: priorities, types, limits, marks (run_at, id)
-- Kind 0: claimed. Kind 1: may not run, left as it was, to be ended by end_refused.
WITH given AS MATERIALIZED (
    SELECT *
    FROM   unnest($5::smallint[], $6::text[], $7::bigint[], $8::timestamptz[], $9::bigint[])
           WITH ORDINALITY AS g (priority, type, want, after_run_at, after_id, quota)
),
picked AS MATERIALIZED (
    SELECT q.quota, q.priority, q.type, p.*
    FROM   given q CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT * FROM (SELECT ctid AS place, id, run_at, tenant, lease_token, {may_run} AS may_run
             FROM   belfry.jobs
             WHERE  status = 1 AND priority = q.priority AND type = q.type AND tenant = ''
               AND  run_at <= {now} AND (run_at, id) > (q.after_run_at, q.after_id) AND {sound} {targeted}
             ORDER  BY run_at, id
             LIMIT  q.want
             FOR    UPDATE SKIP LOCKED) without_tenant
            UNION ALL
            SELECT * FROM (SELECT ctid AS place, id, run_at, tenant, lease_token, {may_run} AS may_run
             FROM   belfry.jobs
             WHERE  status = 1 AND priority = q.priority AND type = q.type AND tenant <> ''
               AND  run_at <= {now} AND (run_at, id) > (q.after_run_at, q.after_id) AND {sound} {targeted}
             ORDER  BY run_at, id
             LIMIT  q.want
             FOR    UPDATE SKIP LOCKED) of_tenants
        ) u
        ORDER BY run_at, id
        LIMIT q.want
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
FROM   picked WHERE NOT may_run;
