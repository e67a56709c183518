-- Take schedules to their next state, with the jobs and ledger rows that belong to it. A schedule that has moved, is
-- locked, has an active run where it must not, or lies outside the fence is passed over, with all that belongs to it.
-- Counts that were damaged to be the greatest number there is begin at 1 again.
--   $1 clock offset  $2 fence: buckets  $3 fence: tokens  $4 without a fence
--   steps: $5 ids  $6 versions  $7 moves  $8 inactive  $9 rules or null  $10 types or null  $11 paused  $12 exclusive  $13 anchors
--   $14 accounted now  $15 next due  $16 paused at  $17 time zone data  $18 expect by  $19 expected  $20 alerted  $21 waiting
--   $22 attach from  $23 attach to  $43 payloads, with the rules  $50 zone marks  $51 unreadable
--   jobs: $24 step  $25 types  $26 payloads  $27 priorities  $28 run at or null  $29 max attempts  $30 timeouts  $31 backoffs
--   $32 targets  $33 tags  $34 scheduled for  $35 covers  $49 expires at
--   ledger: $36 step  $37 job or null  $38 from  $39 to  $40 counts  $41 outcomes  $42 reasons
--   alerts: $44 step  $45 kinds  $46 details  $47 clear  $48 momentary, as in raise_alerts
--   $52 the highest id known to be given
WITH held AS MATERIALIZED (
    SELECT l.bucket
    FROM   unnest($2::bigint[], $3::bigint[]) AS f (bucket, token)
    JOIN   belfry.scheduler_leases l ON l.bucket = f.bucket AND l.token = f.token AND l.expires_at > clock_timestamp() + $1::interval
    ORDER  BY l.bucket
    FOR    SHARE OF l
), steps AS MATERIALIZED (
    SELECT * FROM unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::boolean[], $9::json[], $10::text[], $11::boolean[], $12::boolean[],
        $13::timestamptz[], $14::timestamptz[], $15::timestamptz[], $16::timestamptz[], $17::text[], $18::timestamptz[], $19::timestamptz[],
        $20::boolean[], $21::json[], $22::timestamptz[], $23::timestamptz[], $43::json[], $50::text[], $51::boolean[])
        WITH ORDINALITY AS g (ref, old_version, old_moves, inactive, rule, type, paused, exclusive, anchor, accounted, next_due, paused_at,
            tz_data, expect_by, expected, alerted, waiting, attach_from, attach_to, payload, zone_mark, unreadable, step)
), locked AS MATERIALIZED (
    SELECT g.*, s.id
    FROM   steps g JOIN belfry.schedules s ON s.id = g.ref AND s.version = g.old_version AND s.moves = g.old_moves
    WHERE  ($4::boolean OR (s.id & 63) IN (SELECT bucket FROM held))
      AND  NOT (coalesce(g.inactive, false) AND EXISTS (SELECT FROM belfry.jobs j WHERE j.tenant = s.tenant AND j.schedule = s.name))
    ORDER  BY s.id
    FOR    UPDATE OF s SKIP LOCKED
), moved AS (
    UPDATE belfry.schedules s
    SET    moves = s.moves % 9223372036854775807 + 1, version = CASE WHEN g.rule IS NULL THEN s.version ELSE s.version % 9223372036854775807 + 1 END,
           updated_at = CASE WHEN g.rule IS NULL THEN s.updated_at WHEN g.anchor <> s.anchor THEN g.anchor ELSE {now} END,
           rule = coalesce(g.rule, s.rule), payload = CASE WHEN g.rule IS NULL THEN s.payload ELSE g.payload END, type = coalesce(g.type, s.type),
           paused = CASE WHEN g.rule IS NULL THEN s.paused ELSE coalesce(g.paused, false) END,
           exclusive = CASE WHEN g.rule IS NULL THEN s.exclusive ELSE coalesce(g.exclusive, false) END,
           anchor = g.anchor, accounted = g.accounted, next_due = g.next_due, waiting = g.waiting, paused_at = g.paused_at,
           tz_data = coalesce(g.tz_data, ''), expect_by = g.expect_by, expected = g.expected,
           alerted = coalesce(g.alerted, false), zone_mark = coalesce(g.zone_mark, ''), unreadable = coalesce(g.unreadable, false)
    FROM   locked g
    WHERE  s.id = g.id
    RETURNING g.step, s.id, s.version, s.tenant, s.name, g.attach_from, g.attach_to
), known AS MATERIALIZED (
    -- What moved, by step: a join of the two would compare each with each, for the guard turns other joins off.
    SELECT jsonb_object_agg(step, jsonb_build_array(id, tenant, name)) AS steps FROM moved
), jobs AS MATERIALIZED (
    SELECT g.*, {new_id $52} AS id, k.steps -> g.step::text ->> 1 AS tenant, k.steps -> g.step::text ->> 2 AS name
    FROM   known k CROSS JOIN unnest($24::bigint[], $25::text[], $26::json[], $27::smallint[], $28::timestamptz[], $29::integer[], $30::bigint[],
               $31::text[], $32::json[], $33::text[], $34::timestamptz[], $35::json[], $49::timestamptz[])
               WITH ORDINALITY AS g (step, type, payload, priority, run_at, max_attempts, timeout, backoff, target, tags, scheduled_for, covers, expires_at, job)
    WHERE  k.steps ? g.step::text
    ORDER  BY g.job
), numbered AS MATERIALIZED (
    SELECT jsonb_object_agg(job, id) AS jobs, jsonb_object_agg(step, id ORDER BY job DESC) AS firsts FROM jobs
), made AS (
    INSERT INTO belfry.jobs (id, type, payload, priority, tenant, run_at, created_at, max_attempts, timeout, expires_at, backoff, target, tags,
        schedule, scheduled_for, covers, lease_token, status)
    SELECT id, type, payload, priority, tenant, coalesce(run_at, {now}), {now}, max_attempts, timeout, expires_at, backoff::bigint[], target,
        tags::text[], CASE WHEN scheduled_for IS NULL THEN NULL ELSE name END, scheduled_for, covers, 1, 1
    FROM   jobs
), ledger AS (
    INSERT INTO belfry.occurrences (schedule_id, from_at, to_at, count, outcome, reason, job_id, at)
    SELECT (k.steps -> g.step::text ->> 0)::bigint, g.from_at, g.to_at, g.count, g.outcome, g.reason, (n.jobs ->> g.job::text)::bigint, {now}
    FROM   known k CROSS JOIN numbered n CROSS JOIN unnest($36::bigint[], $37::bigint[], $38::timestamptz[], $39::timestamptz[], $40::bigint[], $41::text[], $42::text[])
               AS g (step, job, from_at, to_at, count, outcome, reason)
    WHERE  k.steps ? g.step::text
), attached AS (
    UPDATE belfry.occurrences o
    SET    job_id = (n.firsts ->> m.step::text)::bigint
    FROM   moved m CROSS JOIN numbered n
    WHERE  m.attach_from IS NOT NULL AND o.schedule_id = m.id AND o.from_at >= m.attach_from AND o.to_at <= m.attach_to
      AND  o.job_id IS NULL AND o.outcome <> 'skipped'
), told AS MATERIALIZED (
    SELECT a.kind, k.steps -> a.step::text ->> 1 AS tenant, k.steps -> a.step::text ->> 2 AS subject, a.detail, coalesce(a.clear, false) AS clear, coalesce(a.momentary, false) AS momentary
    FROM   known k CROSS JOIN unnest($44::bigint[], $45::text[], $46::text[], $47::boolean[], $48::boolean[]) AS a (step, kind, detail, clear, momentary)
    WHERE  k.steps ? a.step::text
), cleared AS (
    UPDATE belfry.alerts a SET cleared_at = {now}
    FROM   told t
    WHERE  (t.clear OR t.momentary) AND a.kind = t.kind AND a.tenant = t.tenant AND a.subject = t.subject AND a.cleared_at IS NULL
), raised AS (
    INSERT INTO belfry.alerts (kind, tenant, subject, detail, raised_at, cleared_at)
    SELECT kind, tenant, subject, detail, {now}, CASE WHEN momentary THEN {now} END
    FROM   told t
    WHERE  NOT clear AND NOT (momentary AND EXISTS (
               SELECT FROM belfry.alerts a WHERE a.kind = t.kind AND a.tenant = t.tenant AND a.subject = t.subject AND a.cleared_at IS NULL))
    ORDER  BY kind, tenant, subject
    ON CONFLICT (kind, tenant, subject) WHERE cleared_at IS NULL DO NOTHING
)
SELECT m.step, m.version, 0::bigint, 0::bigint FROM moved m
UNION ALL
SELECT j.step, 0, j.job, j.id FROM jobs j
ORDER  BY 1, 3;
