-- The tables of version 1. jobs, job_history and dead_letters have the same columns in the same order:
-- statements move rows between them by SELECT *, and a later migration adds a column to all three.
-- Times are microseconds since 1970 UTC, durations microseconds; NULL means none.

CREATE TABLE jobs (
	id             INTEGER PRIMARY KEY,
	type           TEXT    NOT NULL,
	payload        TEXT    NOT NULL,
	priority       INTEGER NOT NULL,
	tenant         TEXT    NOT NULL DEFAULT '',
	run_at         INTEGER NOT NULL,
	status         INTEGER NOT NULL,
	attempts       INTEGER NOT NULL DEFAULT 0,
	max_attempts   INTEGER NOT NULL,
	snoozes        INTEGER NOT NULL DEFAULT 0,
	lease_token    INTEGER NOT NULL DEFAULT 0,
	lease_until    INTEGER,
	reap_at        INTEGER,                    -- when the reaper looks at it next; heartbeats leave it alone
	ended_token    INTEGER NOT NULL DEFAULT 0, -- negative: the attempt of that token was ended as lost
	claim_id       INTEGER NOT NULL DEFAULT 0,
	worker_id      TEXT    NOT NULL DEFAULT '',
	dispatch_fence INTEGER NOT NULL DEFAULT 0,
	dispatches     INTEGER NOT NULL DEFAULT 0,
	cancel_wanted  INTEGER NOT NULL DEFAULT 0,
	dedupe_key     TEXT    NOT NULL DEFAULT '',
	timeout        INTEGER NOT NULL DEFAULT 0,
	expires_at     INTEGER,
	backoff        TEXT,                       -- JSON array of microseconds
	target         TEXT,
	tags           TEXT,                       -- JSON array of strings
	trace          TEXT    NOT NULL DEFAULT '',
	errors         TEXT,                       -- JSON array, oldest first
	result         TEXT,
	reason         TEXT    NOT NULL DEFAULT '',
	created_at     INTEGER NOT NULL,
	started_at     INTEGER,
	finished_at    INTEGER
) STRICT;

-- Waiting rows in the order of a claim, tenant by tenant; rows without a tenant are one run of it.
CREATE INDEX jobs_due ON jobs (priority, type, tenant, run_at) WHERE status = 1;
-- The same across tenants, for claims in order of time.
CREATE INDEX jobs_due_tenants ON jobs (priority, type, run_at) WHERE status = 1 AND tenant <> '';
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE status = 1 AND expires_at IS NOT NULL;
CREATE INDEX jobs_in_flight ON jobs (reap_at, status, priority) WHERE status IN (2, 3);
CREATE UNIQUE INDEX jobs_dedupe ON jobs (tenant, dedupe_key) WHERE dedupe_key <> '';

CREATE TABLE job_history (
	id             INTEGER PRIMARY KEY,
	type           TEXT    NOT NULL,
	payload        TEXT    NOT NULL,
	priority       INTEGER NOT NULL,
	tenant         TEXT    NOT NULL,
	run_at         INTEGER NOT NULL,
	status         INTEGER NOT NULL,
	attempts       INTEGER NOT NULL,
	max_attempts   INTEGER NOT NULL,
	snoozes        INTEGER NOT NULL,
	lease_token    INTEGER NOT NULL,
	lease_until    INTEGER,
	reap_at        INTEGER,
	ended_token    INTEGER NOT NULL,
	claim_id       INTEGER NOT NULL,
	worker_id      TEXT    NOT NULL,
	dispatch_fence INTEGER NOT NULL,
	dispatches     INTEGER NOT NULL,
	cancel_wanted  INTEGER NOT NULL,
	dedupe_key     TEXT    NOT NULL,
	timeout        INTEGER NOT NULL,
	expires_at     INTEGER,
	backoff        TEXT,
	target         TEXT,
	tags           TEXT,
	trace          TEXT    NOT NULL,
	errors         TEXT,
	result         TEXT,
	reason         TEXT    NOT NULL,
	created_at     INTEGER NOT NULL,
	started_at     INTEGER,
	finished_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX job_history_finished ON job_history (finished_at);

CREATE TABLE dead_letters (
	id             INTEGER PRIMARY KEY,
	type           TEXT    NOT NULL,
	payload        TEXT    NOT NULL,
	priority       INTEGER NOT NULL,
	tenant         TEXT    NOT NULL,
	run_at         INTEGER NOT NULL,
	status         INTEGER NOT NULL,
	attempts       INTEGER NOT NULL,
	max_attempts   INTEGER NOT NULL,
	snoozes        INTEGER NOT NULL,
	lease_token    INTEGER NOT NULL,
	lease_until    INTEGER,
	reap_at        INTEGER,
	ended_token    INTEGER NOT NULL,
	claim_id       INTEGER NOT NULL,
	worker_id      TEXT    NOT NULL,
	dispatch_fence INTEGER NOT NULL,
	dispatches     INTEGER NOT NULL,
	cancel_wanted  INTEGER NOT NULL,
	dedupe_key     TEXT    NOT NULL,
	timeout        INTEGER NOT NULL,
	expires_at     INTEGER,
	backoff        TEXT,
	target         TEXT,
	tags           TEXT,
	trace          TEXT    NOT NULL,
	errors         TEXT,
	result         TEXT,
	reason         TEXT    NOT NULL,
	created_at     INTEGER NOT NULL,
	started_at     INTEGER,
	finished_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX dead_letters_finished ON dead_letters (finished_at);

CREATE TABLE job_types (
	type            TEXT    PRIMARY KEY,
	announced_at    INTEGER,                    -- when a process last said that it handles the type
	unhandled_until INTEGER NOT NULL DEFAULT 0, -- not dispatched before this: no handler was found
	unhandled_wait  INTEGER NOT NULL DEFAULT 0  -- the length of that mark; the next one is twice as long
) STRICT, WITHOUT ROWID;

CREATE TABLE scheduler_leases (
	bucket     INTEGER PRIMARY KEY,
	holder     TEXT    NOT NULL DEFAULT '', -- '' means released as clean, or never held
	token      INTEGER NOT NULL DEFAULT 0,
	expires_at INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO scheduler_leases (bucket)
WITH RECURSIVE n (bucket) AS (SELECT 0 UNION ALL SELECT bucket + 1 FROM n WHERE bucket < 63)
SELECT bucket FROM n;

CREATE TABLE rollups (
	minute    INTEGER NOT NULL, -- its start; 0 is the sum of all minutes that were merged
	priority  INTEGER NOT NULL,
	type      TEXT    NOT NULL,
	starts    INTEGER NOT NULL,
	done      INTEGER NOT NULL,
	failed    INTEGER NOT NULL,
	retried   INTEGER NOT NULL,
	cancelled INTEGER NOT NULL,
	lost      INTEGER NOT NULL,
	snoozed   INTEGER NOT NULL,
	lag_sum   INTEGER NOT NULL,
	lag       TEXT    NOT NULL, -- histogram: JSON array of counts
	merged    INTEGER NOT NULL, -- 1: the sum at minute 0 has these counts
	PRIMARY KEY (minute, priority, type)
) STRICT, WITHOUT ROWID;

CREATE INDEX rollups_open ON rollups (minute) WHERE merged = 0;

CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('next_id', 1);
