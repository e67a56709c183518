-- Alerts about jobs that failed for good, grouped by type and error: what failed since the last look.

CREATE TABLE failure_notes (
	type        TEXT    NOT NULL,
	error_group TEXT    NOT NULL,
	count       INTEGER NOT NULL,
	newest      INTEGER NOT NULL, -- the dead letter whose error is told
	at          INTEGER NOT NULL,
	PRIMARY KEY (type, error_group)
) STRICT, WITHOUT ROWID;

ALTER TABLE alerts ADD COLUMN count INTEGER NOT NULL DEFAULT 0; -- what it counts: job_failed the jobs
ALTER TABLE alerts ADD COLUMN last_at INTEGER;                  -- when that last rose

CREATE INDEX alerts_over ON alerts (cleared_at) WHERE cleared_at IS NOT NULL;
