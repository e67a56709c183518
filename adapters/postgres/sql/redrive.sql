-- Put dead letters back, the lowest id first, each due a step after the one before it. Those whose dedupe key a live
-- job holds stay, and come back with that job's absence: null. Their keys are taken in order, as in submit_keyed.
--   $1 clock offset  $2 most  $3 type or ''  $4 tenant or null  $5 ids or none  $6 failed before or null
--   $7 error group or ''  $8 ids above  $9 when the first is due, or null  $10 the step
WITH dead AS MATERIALIZED (
    SELECT *
    FROM   belfry.dead_letters
    WHERE  {dead_rows}
    ORDER  BY {dead_order}
    LIMIT  $2::bigint
    FOR    UPDATE {skip_locked}
), put AS (
    INSERT INTO belfry.jobs ({record}, status)
    SELECT id, greatest({now}, $9::timestamptz) + (place - 1) * $10::interval, created_at, started_at, NULL, {next_token}, ended_token, 0, dispatch_fence,
           0, max_attempts, 0, 0, priority, type, tenant, payload, timeout, backoff, dedupe_key, NULL, target, tags, trace, schedule,
           scheduled_for, covers, errors, 1
    FROM  (SELECT d.*, row_number() OVER (ORDER BY d.id) AS place FROM dead d) p
    ORDER  BY tenant, dedupe_key, id
    ON CONFLICT DO NOTHING
    RETURNING id, run_at
), gone AS (
    DELETE FROM belfry.dead_letters WHERE id = ANY (ARRAY(SELECT id FROM put))
)
SELECT d.id, p.id, p.run_at FROM dead d LEFT JOIN put p ON p.id = d.id ORDER BY d.id;
