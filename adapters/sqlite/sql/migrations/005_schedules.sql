-- Schedules, the ledger of their due instants, and alerts. Jobs learn which instant they run.

ALTER TABLE jobs ADD COLUMN schedule TEXT;
ALTER TABLE jobs ADD COLUMN scheduled_for INTEGER;
ALTER TABLE jobs ADD COLUMN covers TEXT;
ALTER TABLE job_history ADD COLUMN schedule TEXT;
ALTER TABLE job_history ADD COLUMN scheduled_for INTEGER;
ALTER TABLE job_history ADD COLUMN covers TEXT;
ALTER TABLE dead_letters ADD COLUMN schedule TEXT;
ALTER TABLE dead_letters ADD COLUMN scheduled_for INTEGER;
ALTER TABLE dead_letters ADD COLUMN covers TEXT;

-- Which runs of a schedule are active, and which instants have succeeded. Only jobs of schedules pay for these.
CREATE INDEX jobs_of_schedules ON jobs (tenant, schedule) WHERE schedule IS NOT NULL;
CREATE INDEX job_history_of_schedules ON job_history (tenant, schedule, scheduled_for) WHERE schedule IS NOT NULL;

-- The bucket of a schedule is id & 63. rule is what the user said, as core.ScheduleRule, but for the payload, which is
-- kept byte for byte; type, paused and exclusive (its overlap policy asks whether a run is active) repeat it.
CREATE TABLE schedules (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	tenant     TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	version    INTEGER NOT NULL DEFAULT 1,
	rule       TEXT    NOT NULL,
	payload    TEXT,
	type       TEXT    NOT NULL,
	paused     INTEGER NOT NULL,
	exclusive  INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	anchor     INTEGER,
	accounted  INTEGER NOT NULL, -- the ledger is complete up to here
	next_due   INTEGER,
	waiting    TEXT,             -- a run that waits for the run before it, as core.Run
	paused_at  INTEGER,
	tz_data    TEXT    NOT NULL DEFAULT '',
	expect_by  INTEGER,
	expected   INTEGER,
	alerted    INTEGER NOT NULL DEFAULT 0,
	moves      INTEGER NOT NULL DEFAULT 0, -- how many Advances it has had
	UNIQUE (tenant, name)
) STRICT;

CREATE INDEX schedules_due ON schedules (next_due) WHERE next_due IS NOT NULL;
CREATE INDEX schedules_expecting ON schedules (expect_by) WHERE expect_by IS NOT NULL;
CREATE INDEX schedules_waiting ON schedules (id) WHERE waiting IS NOT NULL;
CREATE INDEX schedules_tz_data ON schedules (tz_data) WHERE tz_data <> '';

-- The ledger: each row is a run of due instants, both ends included, that came to one outcome.
CREATE TABLE occurrences (
	schedule_id INTEGER NOT NULL,
	from_at     INTEGER NOT NULL,
	to_at       INTEGER NOT NULL,
	count       INTEGER NOT NULL,
	outcome     TEXT    NOT NULL,
	reason      TEXT    NOT NULL DEFAULT '',
	job_id      INTEGER NOT NULL DEFAULT 0,
	at          INTEGER NOT NULL
) STRICT;

CREATE INDEX occurrences_of_schedule ON occurrences (schedule_id, from_at);
CREATE INDEX occurrences_at ON occurrences (at);

-- What an operator should know. sent counts the events that were published: raised, then cleared.
CREATE TABLE alerts (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	kind       TEXT    NOT NULL,
	tenant     TEXT    NOT NULL,
	subject    TEXT    NOT NULL,
	detail     TEXT    NOT NULL,
	raised_at  INTEGER NOT NULL,
	cleared_at INTEGER,
	sent       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX alerts_open ON alerts (kind, tenant, subject) WHERE cleared_at IS NULL;
CREATE INDEX alerts_unsent ON alerts (id) WHERE sent = 0 OR sent = 1 AND cleared_at IS NOT NULL;
