-- Schedules, the ledger of their due instants, and alerts. Jobs learn which instant they run.

ALTER TABLE belfry.jobs ADD COLUMN IF NOT EXISTS schedule text COLLATE "C", ADD COLUMN IF NOT EXISTS scheduled_for timestamptz, ADD COLUMN IF NOT EXISTS covers json;

-- Which runs of a schedule are active, and which instants have succeeded. Only jobs of schedules pay for these.
-- belfry:step concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS jobs_of_schedules ON belfry.jobs (tenant, schedule, id) WHERE schedule IS NOT NULL;

-- belfry:step
ALTER TABLE belfry.job_history ADD COLUMN schedule text COLLATE "C", ADD COLUMN scheduled_for timestamptz, ADD COLUMN covers json;
ALTER TABLE belfry.job_history_overflow ADD COLUMN schedule text COLLATE "C", ADD COLUMN scheduled_for timestamptz, ADD COLUMN covers json;
ALTER TABLE belfry.dead_letters ADD COLUMN schedule text COLLATE "C", ADD COLUMN scheduled_for timestamptz, ADD COLUMN covers json;

CREATE INDEX job_history_of_schedules ON belfry.job_history (tenant, schedule, scheduled_for) WHERE schedule IS NOT NULL;
CREATE INDEX job_history_overflow_of_schedules ON belfry.job_history_overflow (tenant, schedule, scheduled_for) WHERE schedule IS NOT NULL;

CREATE SEQUENCE belfry.schedule_ids AS bigint;

-- The bucket of a schedule is id & 63. rule is what the user said, as core.ScheduleRule; type and
-- paused repeat it for lists. The payload is apart: it is kept byte for byte.
CREATE TABLE belfry.schedules (
    id         bigint NOT NULL PRIMARY KEY,
    tenant     text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    version    bigint NOT NULL DEFAULT 1,
    type       text COLLATE "C" NOT NULL,
    paused     boolean NOT NULL DEFAULT false,
    exclusive  boolean NOT NULL DEFAULT false,  -- its overlap policy asks whether a run is active
    rule       json NOT NULL,
    payload    json,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    anchor     timestamptz NOT NULL,
    accounted  timestamptz NOT NULL,            -- the ledger is complete up to here
    next_due   timestamptz,
    waiting    json,                            -- a run that waits for the run before it, as core.Run
    paused_at  timestamptz,
    tz_data    text COLLATE "C" NOT NULL DEFAULT '',
    expect_by  timestamptz,
    expected   timestamptz,
    alerted    boolean NOT NULL DEFAULT false,
    moves      bigint NOT NULL DEFAULT 0,       -- how many Advances it has had
    UNIQUE (tenant, name)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

CREATE INDEX schedules_due ON belfry.schedules (next_due) WHERE next_due IS NOT NULL;
CREATE INDEX schedules_expecting ON belfry.schedules (expect_by) WHERE expect_by IS NOT NULL;
CREATE INDEX schedules_waiting ON belfry.schedules (id) WHERE waiting IS NOT NULL;
CREATE INDEX schedules_tz_data ON belfry.schedules (tz_data) WHERE tz_data <> '';

-- The ledger: each row is a run of due instants, both ends included, that came to one outcome. A partition for each
-- month in which they were accounted for, made ahead; what finds none goes to the default one.
CREATE TABLE belfry.occurrences (
    schedule_id bigint NOT NULL,
    from_at     timestamptz NOT NULL,
    to_at       timestamptz NOT NULL,
    count       bigint NOT NULL,
    outcome     text COLLATE "C" NOT NULL,
    reason      text COLLATE "C",
    job_id      bigint,
    at          timestamptz NOT NULL
) PARTITION BY RANGE (at);
CREATE INDEX occurrences_of_schedule ON belfry.occurrences (schedule_id, from_at);
CREATE TABLE belfry.occurrences_default PARTITION OF belfry.occurrences DEFAULT;

-- Makes the ledger's partition of a month (UTC), unless it is there or the default one has rows of that month.
CREATE FUNCTION belfry.make_ledger_month(month date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    name text := 'occurrences_' || to_char(month, 'YYYYMM');
    low  timestamptz := date_trunc('month', month::timestamp) AT TIME ZONE 'UTC';
    high timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
    PERFORM pg_advisory_xact_lock(x'62656c66'::integer, x'72790002'::integer);
    IF to_regclass('belfry.' || name) IS NOT NULL OR EXISTS (SELECT FROM belfry.occurrences_default WHERE at >= low AND at < high) THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE belfry.%I PARTITION OF belfry.occurrences FOR VALUES FROM (%L) TO (%L)', name, low, high);
    RETURN true;
END
$$;

-- Drops the ledger's months that lie wholly before an instant, and says how many.
CREATE FUNCTION belfry.drop_ledger_months(before timestamptz) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    name text;
    n    integer := 0;
BEGIN
    FOR name IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE  i.inhparent = 'belfry.occurrences'::regclass AND c.relname ~ '^occurrences_[0-9]{6}$'
          AND  (to_date(right(c.relname, 6), 'YYYYMM') + interval '1 month') AT TIME ZONE 'UTC' <= before
    LOOP
        EXECUTE format('DROP TABLE belfry.%I', name);
        n := n + 1;
    END LOOP;
    RETURN n;
END
$$;

SELECT belfry.make_ledger_month(((now() AT TIME ZONE 'UTC')::date + make_interval(months => ahead))::date) FROM generate_series(0, 2) AS ahead;

-- What an operator should know. sent counts the events that were published: raised, then cleared.
CREATE TABLE belfry.alerts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind       text COLLATE "C" NOT NULL,
    tenant     text COLLATE "C" NOT NULL,
    subject    text COLLATE "C" NOT NULL,
    detail     text NOT NULL,
    raised_at  timestamptz NOT NULL,
    cleared_at timestamptz,
    sent       smallint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX alerts_open ON belfry.alerts (kind, tenant, subject) WHERE cleared_at IS NULL;
CREATE INDEX alerts_unsent ON belfry.alerts (id) WHERE sent = 0 OR sent = 1 AND cleared_at IS NOT NULL;

-- As before, with what a job knows of its schedule.
CREATE OR REPLACE FUNCTION belfry.end_cancelled(id bigint, kept_in text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept CONSTANT text := 'id, run_at, created_at, started_at, expires_at, ended_token, claim_id, dispatch_fence, attempts, max_attempts, '
        'snoozes, dispatches, priority, type, tenant, payload, timeout, backoff, dedupe_key, worker_id, target, tags, trace, schedule, scheduled_for, '
        'covers, errors';
BEGIN
    EXECUTE format('WITH gone AS (DELETE FROM belfry.jobs j WHERE j.id = $1 RETURNING %s, least(j.lease_token, 9223372036854775806) + 1 AS lease_token) '
        'INSERT INTO belfry.%I (%s, lease_token, status, finished_at, reason) SELECT %s, lease_token, 6, now(), ''cancelled'' FROM gone',
        kept, kept_in, kept, kept) USING end_cancelled.id;
END
$$;
