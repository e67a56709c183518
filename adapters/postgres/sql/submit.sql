-- Write jobs that have no dedupe key. Rows come back in the order of the arrays.
--   $1 clock offset  $2 types  $3 payloads  $4 priorities  $5 tenants  $6 run at (null: now + delay)  $7 delays
--   $8 max attempts  $9 timeouts  $10 expires at  $11 backoffs  $12 targets  $13 tags  $14 traces
--   $15 ask to be queued  $16 dispatch leases  $17 dispatch fences  $18 expires after, where there is no expires at
--   $19 the highest id known to be given
INSERT INTO belfry.jobs (id, type, payload, priority, tenant, run_at, created_at, max_attempts, timeout, expires_at, backoff,
    target, tags, trace, lease_token, status, lease_until, reap_at, dispatches, dispatch_fence)
SELECT {new_id $19}, type, payload, priority, tenant, coalesce(run_at, {now} + delay, {now}), {now}, max_attempts, timeout,
    coalesce(expires_at, coalesce(run_at, {now} + delay, {now}) + expires_after), backoff::bigint[], target, tags::text[], trace, 1,
    CASE WHEN queued THEN 2 ELSE 1 END,
    CASE WHEN queued THEN {now} + queued_lease ELSE '-infinity' END,
    CASE WHEN queued THEN {now} + queued_lease ELSE '-infinity' END,
    CASE WHEN queued THEN 1 ELSE 0 END, coalesce(fence, 0)
FROM (
    SELECT *, ask AND coalesce(run_at, '-infinity') <= {now} AND delay IS NULL AS queued
    FROM   unnest($2::text[], $3::json[], $4::smallint[], $5::text[], $6::timestamptz[], $7::interval[], $8::integer[],
               $9::bigint[], $10::timestamptz[], $11::text[], $12::json[], $13::text[], $14::text[], $15::boolean[],
               $16::interval[], $17::bigint[], $18::interval[])
           AS g (type, payload, priority, tenant, run_at, delay, max_attempts, timeout, expires_at, backoff, target, tags,
               trace, ask, queued_lease, fence, expires_after)
) g
RETURNING id, run_at, created_at, status;
