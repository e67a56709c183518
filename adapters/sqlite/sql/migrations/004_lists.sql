-- What lists of jobs need, and groups of dead letters. A job that has no tenant and does not fail pays for none of it.
-- Each index is in the order of ids within one value.

CREATE INDEX jobs_tenant ON jobs (tenant) WHERE tenant <> '';
CREATE INDEX job_history_tenant ON job_history (tenant) WHERE tenant <> '';
CREATE INDEX dead_letters_tenant ON dead_letters (tenant) WHERE tenant <> '';
CREATE INDEX dead_letters_type ON dead_letters (type);

-- The group of each dead letter: core.ErrorGroup of its type and errors. A table of its own, because dead_letters has
-- the columns of jobs. Go fills it for the dead letters of before.
CREATE TABLE dead_letter_groups (
	id          INTEGER PRIMARY KEY,
	error_group TEXT    NOT NULL
) STRICT;
CREATE INDEX dead_letter_groups_group ON dead_letter_groups (error_group);
CREATE TRIGGER dead_letters_gone AFTER DELETE ON dead_letters BEGIN
	DELETE FROM dead_letter_groups WHERE id = OLD.id;
END;
