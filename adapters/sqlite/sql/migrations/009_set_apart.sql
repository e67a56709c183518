-- Rows that raise an error where others are worked on. They are set apart, so that what is done to many at once passes over
-- them until retry_at; row_id and name say which they are. One that is not renewed by then was mended, or is gone.
-- belfry:oldest 7

CREATE TABLE set_apart (
	kind     TEXT    NOT NULL,            -- job, schedule, dead_letter, alert …
	row_id   INTEGER NOT NULL,
	name     TEXT    NOT NULL DEFAULT '', -- of what has no number
	about    TEXT    NOT NULL DEFAULT '', -- the type of a job, the name of a schedule
	act      TEXT    NOT NULL,            -- what was being done
	error    TEXT    NOT NULL,
	tries    INTEGER NOT NULL DEFAULT 1,
	first_at INTEGER NOT NULL,
	retry_at INTEGER NOT NULL,
	told     INTEGER NOT NULL DEFAULT 0,  -- in a log
	PRIMARY KEY (kind, row_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX set_apart_untold ON set_apart (first_at) WHERE told = 0;
CREATE INDEX set_apart_over ON set_apart (retry_at);
