-- Jobs, live and ended, and the leases of those who schedule them.
--
-- Ids come from one sequence; the bucket of a job is id & 63. Status and priority are numbers (core.Status,
-- core.Priority). Durations are microseconds. JSON is kept as json, byte for byte. The hot table has no
-- checks and no foreign keys: a row that someone damaged by hand must never make a batch fail.

CREATE SEQUENCE belfry.job_ids AS bigint;

CREATE TABLE belfry.jobs (
    id             bigint NOT NULL PRIMARY KEY,
    run_at         timestamptz NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    started_at     timestamptz,
    lease_until    timestamptz NOT NULL DEFAULT '-infinity',  -- of the worker (running) or of the dispatch (queued)
    reap_at        timestamptz NOT NULL DEFAULT '-infinity',  -- the first lease_until: heartbeats leave it alone
    expires_at     timestamptz,
    lease_token    bigint NOT NULL DEFAULT 0,
    ended_token    bigint NOT NULL DEFAULT 0,
    claim_id       bigint NOT NULL DEFAULT 0,
    dispatch_fence bigint NOT NULL DEFAULT 0,
    attempts       integer NOT NULL DEFAULT 0,
    max_attempts   integer NOT NULL DEFAULT 5,
    snoozes        integer NOT NULL DEFAULT 0,
    dispatches     integer NOT NULL DEFAULT 0,
    status         smallint NOT NULL DEFAULT 1,
    priority       smallint NOT NULL DEFAULT 2,
    cancel_wanted  boolean NOT NULL DEFAULT false,
    type           text COLLATE "C" NOT NULL,
    tenant         text COLLATE "C" NOT NULL DEFAULT '',
    payload        json NOT NULL DEFAULT '{}',
    timeout        bigint,
    backoff        bigint[],
    dedupe_key     text COLLATE "C",
    worker_id      text,
    target         json,
    tags           text[],
    trace          text,
    errors         json
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_analyze_threshold = 5000
);

-- Waiting rows in the order of the claim: by tenant, and for rows that have a tenant also by time alone. Rows
-- without a tenant are one tenant to the first index, hence in order of time there, and pay for one index.
CREATE INDEX jobs_waiting ON belfry.jobs (priority, type, tenant, run_at, id) WHERE status = 1;
CREATE INDEX jobs_waiting_of_tenants ON belfry.jobs (priority, type, run_at, id) WHERE status = 1 AND tenant <> '';
-- Rows in flight. A heartbeat changes no indexed column.
CREATE INDEX jobs_queued ON belfry.jobs (reap_at) WHERE status = 2;
CREATE INDEX jobs_running ON belfry.jobs (reap_at) WHERE status = 3;
-- Written so that only the statement that expires jobs fits it, and that statement no other index.
CREATE INDEX jobs_expiring ON belfry.jobs (expires_at) WHERE (status + 0) = 1 AND expires_at IS NOT NULL;
CREATE UNIQUE INDEX jobs_dedupe ON belfry.jobs (tenant, dedupe_key) WHERE dedupe_key IS NOT NULL;

-- Done and cancelled jobs, a partition for each day. A finish on a day without one goes to the overflow.
CREATE TABLE belfry.job_history (
    id             bigint NOT NULL,
    run_at         timestamptz NOT NULL,
    created_at     timestamptz NOT NULL,
    started_at     timestamptz,
    finished_at    timestamptz NOT NULL,
    expires_at     timestamptz,
    lease_token    bigint NOT NULL,
    ended_token    bigint NOT NULL,
    claim_id       bigint NOT NULL,
    dispatch_fence bigint NOT NULL,
    attempts       integer NOT NULL,
    max_attempts   integer NOT NULL,
    snoozes        integer NOT NULL,
    dispatches     integer NOT NULL,
    status         smallint NOT NULL,
    priority       smallint NOT NULL,
    type           text COLLATE "C" NOT NULL,
    tenant         text COLLATE "C" NOT NULL,
    payload        json NOT NULL,
    timeout        bigint,
    backoff        bigint[],
    dedupe_key     text COLLATE "C",
    worker_id      text,
    target         json,
    tags           text[],
    trace          text,
    errors         json,
    result         json,
    reason         text
) PARTITION BY RANGE (finished_at);
CREATE INDEX job_history_id ON belfry.job_history (id);

CREATE TABLE belfry.job_history_overflow (LIKE belfry.job_history);
CREATE INDEX job_history_overflow_id ON belfry.job_history_overflow (id);

-- Failed jobs, until redriven, discarded or past retention.
CREATE TABLE belfry.dead_letters (LIKE belfry.job_history, PRIMARY KEY (id));
CREATE INDEX dead_letters_finished ON belfry.dead_letters (finished_at);

-- Types that processes announced, and marks on those no process here handles.
CREATE TABLE belfry.job_types (
    type            text COLLATE "C" NOT NULL PRIMARY KEY,
    announced_at    timestamptz,
    unhandled_until timestamptz,
    unhandled_wait  interval NOT NULL DEFAULT '0'
);

-- One row per bucket. unclean is set by a takeover from a holder that did not release, until the rows that
-- holder queued are due to be published again.
CREATE TABLE belfry.scheduler_leases (
    bucket     smallint NOT NULL PRIMARY KEY,
    holder     text NOT NULL DEFAULT '',
    token      bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL DEFAULT '-infinity',
    clean      boolean NOT NULL DEFAULT true,
    unclean    boolean NOT NULL DEFAULT false
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
INSERT INTO belfry.scheduler_leases (bucket) SELECT generate_series(0, 63);

-- Counts of one minute, by shard so that finishing batches do not wait for one another. Shard -1 holds the
-- minutes that were merged, which rollup_totals contains; the other shards are not in it yet.
CREATE TABLE belfry.rollups (
    minute    timestamptz NOT NULL,
    priority  smallint NOT NULL,
    type      text COLLATE "C" NOT NULL,
    shard     integer NOT NULL,
    starts    bigint NOT NULL, done bigint NOT NULL, failed bigint NOT NULL, retried bigint NOT NULL,
    cancelled bigint NOT NULL, lost bigint NOT NULL, snoozed bigint NOT NULL,
    lag       bigint[] NOT NULL,
    lag_sum   bigint NOT NULL,
    PRIMARY KEY (minute, priority, type, shard)
) WITH (fillfactor = 50);

CREATE INDEX rollups_unmerged ON belfry.rollups (minute) WHERE shard <> -1;

CREATE TABLE belfry.rollup_totals (
    priority  smallint NOT NULL,
    type      text COLLATE "C" NOT NULL,
    starts    bigint NOT NULL, done bigint NOT NULL, failed bigint NOT NULL, retried bigint NOT NULL,
    cancelled bigint NOT NULL, lost bigint NOT NULL, snoozed bigint NOT NULL,
    lag       bigint[] NOT NULL,
    lag_sum   bigint NOT NULL,
    PRIMARY KEY (priority, type)
);

-- Histograms are added up element by element; one may be longer than the other.
CREATE FUNCTION belfry.add_up(a bigint[], b bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(coalesce(u.a, 0) + coalesce(u.b, 0) ORDER BY u.i), '{}') FROM unnest(a, b) WITH ORDINALITY AS u (a, b, i)
$$;
CREATE AGGREGATE belfry.add_up (bigint[]) (sfunc = belfry.add_up, stype = bigint[], initcond = '{}');

-- Makes the history partition of a day (UTC), unless it is there. The table is made first and attached then, which
-- holds up no finish and no reader; both are one transaction, so a table that is not attached is one detached.
CREATE FUNCTION belfry.make_history_day(day date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    name text := 'job_history_' || to_char(day, 'YYYYMMDD');
BEGIN
    PERFORM pg_advisory_xact_lock(x'62656c66'::integer, x'72790001'::integer);
    IF to_regclass('belfry.' || name) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE belfry.%I (LIKE belfry.job_history INCLUDING ALL)', name);
    EXECUTE format('ALTER TABLE belfry.job_history ATTACH PARTITION belfry.%I FOR VALUES FROM (%L) TO (%L)', name,
                   day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    RETURN true;
END
$$;

-- Ends a submit whose dedupe key was taken when it inserted and free when it looked: it starts again.
CREATE FUNCTION belfry.start_again() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a dedupe key came free meanwhile' USING ERRCODE = '40001';
END
$$;

SELECT belfry.make_history_day((now() AT TIME ZONE 'UTC')::date + ahead) FROM generate_series(-1, 8) AS ahead;
