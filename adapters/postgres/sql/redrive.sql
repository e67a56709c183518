-- Put dead letters back, the oldest first. Those whose dedupe key a live job holds stay, and come back with that
-- job's absence: null. Their keys are taken in order, as in submit_keyed.
--   $1 clock offset  $2 most  $3 type or ''  $4 tenant or null  $5 ids or none  $6 failed before or null
WITH dead AS MATERIALIZED (
    SELECT *
    FROM   belfry.dead_letters
    WHERE  ($3::text = '' OR type = $3) AND ($4::text IS NULL OR tenant = $4) AND ($5::bigint[] = '{}' OR id = ANY ($5))
      AND  ($6::timestamptz IS NULL OR finished_at < $6)
    ORDER  BY finished_at, id
    LIMIT  $2::bigint
    FOR    UPDATE {skip_locked}
), put AS (
    INSERT INTO belfry.jobs ({record}, status)
    SELECT id, {now}, created_at, started_at, NULL, {next_token}, ended_token, 0, dispatch_fence, 0, max_attempts, 0, 0,
           priority, type, tenant, payload, timeout, backoff, dedupe_key, NULL, target, tags, trace, errors, 1
    FROM   dead
    ORDER  BY tenant, dedupe_key, id
    ON CONFLICT DO NOTHING
    RETURNING id
), gone AS (
    DELETE FROM belfry.dead_letters WHERE id = ANY (ARRAY(SELECT id FROM put))
)
SELECT d.id, p.id FROM dead d LEFT JOIN put p ON p.id = d.id ORDER BY d.finished_at, d.id;
