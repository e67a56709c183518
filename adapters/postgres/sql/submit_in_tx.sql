-- Write one job in a transaction of the caller's own, unless its dedupe key is taken: then no row comes back. A key that
-- another open transaction holds is waited for. Each parameter is a text, so that it means the same in every way a
-- driver can send it.
--   $1 type  $2 payload  $3 priority  $4 tenant  $5 run at (null: now + delay)  $6 delay  $7 most attempts  $8 timeout
--   $9 expires at  $10 backoff  $11 target  $12 tags  $13 trace  $14 dedupe key
INSERT INTO belfry.jobs (id, type, payload, priority, tenant, run_at, created_at, max_attempts, timeout, expires_at, backoff,
    target, tags, trace, lease_token, dedupe_key)
VALUES (nextval('belfry.job_ids'), $1::text, $2::text::json, $3::text::smallint, $4::text,
    coalesce($5::text::timestamptz, now() + $6::text::interval, now()), now(), $7::text::integer, $8::text::bigint,
    $9::text::timestamptz, $10::text::bigint[], $11::text::json, $12::text::text[], $13::text, 1, $14::text)
ON CONFLICT (tenant, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
RETURNING id, run_at, created_at;
