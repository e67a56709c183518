-- Mark due rows of the quotas queued, each lane in order of run_at, where the holder has the lease of their bucket.
--   $1 clock offset  $2 dispatch lease  $3 holder
--   $4 … $8 one element per quota: priorities, types, limits, marks (run_at, id)
-- The bucket leases are locked first: a holder deposed meanwhile finds none and changes no row, and whoever takes them
-- over waits for this transaction. Their tokens are put in one array, by bucket, that is looked into by place for each
-- row: a subselect for each row costs more than to lock it. Kinds as in claim_due.
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
    FROM   unnest($4::smallint[], $5::text[], $6::bigint[], $7::timestamptz[], $8::bigint[])
           WITH ORDINALITY AS g (priority, type, want, after_run_at, after_id, quota)
),
picked AS MATERIALIZED (
    SELECT q.quota, q.priority, q.type, p.*
    FROM   given q CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT * FROM (SELECT ctid AS place, id, run_at, tenant, lease_token, {may_run} AS may_run
             FROM   belfry.jobs
             WHERE  status = 1 AND priority = q.priority AND type = q.type AND tenant = ''
               AND  run_at <= {now} AND (run_at, id) > (q.after_run_at, q.after_id) AND {sound}
               AND  (SELECT tokens FROM fences)[(id & 63)::integer + 1] IS NOT NULL
             ORDER  BY run_at, id
             LIMIT  q.want
             FOR    UPDATE SKIP LOCKED) without_tenant
            UNION ALL
            SELECT * FROM (SELECT ctid AS place, id, run_at, tenant, lease_token, {may_run} AS may_run
             FROM   belfry.jobs
             WHERE  status = 1 AND priority = q.priority AND type = q.type AND tenant <> ''
               AND  run_at <= {now} AND (run_at, id) > (q.after_run_at, q.after_id) AND {sound}
               AND  (SELECT tokens FROM fences)[(id & 63)::integer + 1] IS NOT NULL
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
    SET    status = 2, lease_until = {now} + $2::interval, reap_at = {now} + $2::interval, dispatches = 1,
           dispatch_fence = (SELECT tokens FROM fences)[(id & 63)::integer + 1]
    WHERE  ctid = ANY (ARRAY(SELECT place FROM picked WHERE may_run))
    RETURNING {brief}
)
SELECT 0 AS kind, t.* FROM taken t
UNION ALL
SELECT 1, id, run_at, NULL, NULL, NULL, lease_token, 0, 0, 0, 0, 0, 0, 0, priority, type, tenant, NULL, 0, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM   picked WHERE NOT may_run;
