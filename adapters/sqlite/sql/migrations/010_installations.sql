-- belfry:oldest 7
-- What tells this file's jobs from those of any other file, and from jobs that this one had before a backup was put in its
-- place.

CREATE TABLE installations (
	first_id INTEGER PRIMARY KEY, -- jobs from this id on are this installation's, up to the next one
	id       TEXT    NOT NULL,
	place    TEXT    NOT NULL, -- what the file of ids beside the database says, if it is still the same
	begun_at INTEGER NOT NULL
) STRICT;
