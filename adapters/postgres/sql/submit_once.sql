-- Write jobs under idempotency keys, and keep under each key what its job came to, in the place of what is past its time.
-- Where something else is kept, or another transaction has the key in hand, the job is not written, and nobody is waited for.
-- For each job that was written a row comes back: its place in the arrays first.
--   $1 clock offset  $2 … $18 as submit  $19 holders  $20 keys  $21 the keys' numbers  $22 hashes  $23 the jobs, packed
--   $24 how long each is kept  $25 the highest id known to be given
WITH asked AS MATERIALIZED (
    SELECT *, {new_id $25} AS id, coalesce(run_at, {now} + delay, {now}) AS starts_at,
           CASE WHEN ask AND coalesce(run_at, '-infinity') <= {now} AND delay IS NULL THEN 2 ELSE 1 END AS status
    FROM   unnest($2::text[], $3::json[], $4::smallint[], $5::text[], $6::timestamptz[], $7::interval[], $8::integer[],
               $9::bigint[], $10::timestamptz[], $11::text[], $12::json[], $13::text[], $14::text[], $15::boolean[],
               $16::interval[], $17::bigint[], $18::interval[], $19::text[], $20::text[], $21::bigint[], $22::bytea[], $23::bytea[], $24::interval[])
               WITH ORDINALITY AS g (type, payload, priority, tenant, run_at, delay, max_attempts, timeout, expires_at, backoff, target, tags,
               trace, ask, queued_lease, fence, expires_after, holder, key, number, hash, packed, keep, place)
), kept AS (
    INSERT INTO belfry.idempotency_keys AS k (holder, key, hash, status, answer, expires_at)
    SELECT holder, key, hash, 0,
           '\x02'::bytea || int8send(id) || timestamptz_send(starts_at) || timestamptz_send({now}) || int2send(status::smallint) || packed, {now} + keep
    FROM   asked
    WHERE  pg_try_advisory_xact_lock(number)
    ORDER  BY holder COLLATE "C", key COLLATE "C"
    ON CONFLICT (holder, key) DO UPDATE
    SET    hash = excluded.hash, status = excluded.status, answer = excluded.answer, expires_at = excluded.expires_at
    WHERE  k.expires_at <= {now}
    RETURNING k.holder, k.key
), written AS (
    INSERT INTO belfry.jobs (id, type, payload, priority, tenant, run_at, created_at, max_attempts, timeout, expires_at, backoff,
        target, tags, trace, lease_token, status, lease_until, reap_at, dispatches, dispatch_fence)
    SELECT id, type, payload, priority, tenant, starts_at, {now}, max_attempts, timeout, coalesce(expires_at, starts_at + expires_after),
        backoff::bigint[], target, tags::text[], trace, 1, status,
        CASE WHEN status = 2 THEN {now} + queued_lease ELSE '-infinity' END,
        CASE WHEN status = 2 THEN {now} + queued_lease ELSE '-infinity' END,
        status - 1, coalesce(fence, 0)
    FROM   asked JOIN kept USING (holder, key)
    RETURNING id, run_at, created_at, status
)
SELECT a.place, w.id, w.run_at, w.created_at, w.status FROM written w JOIN asked a USING (id);
