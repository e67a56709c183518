-- Workers that are there, with what they handle; jobs that came back from workers without a handler are counted; totals
-- know when they last rose.
-- belfry:oldest 7

CREATE TABLE workers (
	id       TEXT    PRIMARY KEY,
	host     TEXT    NOT NULL,
	version  TEXT    NOT NULL,
	function INTEGER NOT NULL, -- 1: it lives only while there is work
	queues   INTEGER NOT NULL, -- 1: it receives from queues; else it claims from the table
	delivers INTEGER NOT NULL, -- 1: it delivers jobs to targets
	types    TEXT    NOT NULL, -- JSON array of strings
	slots    INTEGER NOT NULL,
	busy     INTEGER NOT NULL,
	since    INTEGER NOT NULL,
	seen_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE rollups ADD COLUMN strayed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollups ADD COLUMN last_minute INTEGER NOT NULL DEFAULT 0; -- of a sum: the last minute that it has; 0: not known

-- Marks and the announcements of programs of before, of which there are few or none.
CREATE INDEX job_types_marked ON job_types (type) WHERE (unhandled_until > 0 OR announced_at IS NOT NULL);
