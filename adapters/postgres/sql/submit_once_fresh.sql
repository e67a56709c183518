-- Write jobs under idempotency keys that are new, and keep under each key what its job came to. A job whose key another
-- transaction has in hand is not written, and nobody is waited for. A key under which something is kept, even something past
-- its time, raises unique_violation, and nothing is written; submit_once tells such keys apart, at twice the cost.
-- For each job that was written a row comes back: its place in the arrays first.
--   $1 … $25 as submit_once
WITH asked AS MATERIALIZED (
    SELECT *, {new_id $25} AS id, coalesce(run_at, {now} + delay, {now}) AS starts_at,
           CASE WHEN ask AND coalesce(run_at, '-infinity') <= {now} AND delay IS NULL THEN 2 ELSE 1 END AS status
    FROM   unnest($2::text[], $3::json[], $4::smallint[], $5::text[], $6::timestamptz[], $7::interval[], $8::integer[],
               $9::bigint[], $10::timestamptz[], $11::text[], $12::json[], $13::text[], $14::text[], $15::boolean[],
               $16::interval[], $17::bigint[], $18::interval[], $19::text[], $20::text[], $21::bigint[], $22::bytea[], $23::bytea[], $24::interval[])
               WITH ORDINALITY AS g (type, payload, priority, tenant, run_at, delay, max_attempts, timeout, expires_at, backoff, target, tags,
               trace, ask, queued_lease, fence, expires_after, holder, key, number, hash, packed, keep, place)
    WHERE  pg_try_advisory_xact_lock(number)
), kept AS (
    INSERT INTO belfry.idempotency_keys (holder, key, hash, status, answer, expires_at)
    SELECT holder, key, hash, 0,
           '\x02'::bytea || int8send(id) || timestamptz_send(starts_at) || timestamptz_send({now}) || int2send(status::smallint) || packed, {now} + keep
    FROM   asked
), written AS (
    INSERT INTO belfry.jobs (id, type, payload, priority, tenant, run_at, created_at, max_attempts, timeout, expires_at, backoff,
        target, tags, trace, lease_token, status, lease_until, reap_at, dispatches, dispatch_fence)
    SELECT id, type, payload, priority, tenant, starts_at, {now}, max_attempts, timeout, coalesce(expires_at, starts_at + expires_after),
        backoff::bigint[], target, tags::text[], trace, 1, status,
        CASE WHEN status = 2 THEN {now} + queued_lease ELSE '-infinity' END,
        CASE WHEN status = 2 THEN {now} + queued_lease ELSE '-infinity' END,
        status - 1, coalesce(fence, 0)
    FROM   asked
)
SELECT place, id, starts_at, {now}, status FROM asked;
