-- belfry:oldest 7
-- What a schedule's zone showed at accounted, so that no local time comes twice once the zone's rules are others; and whether
-- its rule could not be read when it was last looked at, which an alert says. A table of its own,
-- for programs of before read all columns of schedules by their places.

CREATE TABLE schedule_marks (
	schedule_id INTEGER PRIMARY KEY,
	zone_mark   TEXT    NOT NULL DEFAULT '',
	unreadable  INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TRIGGER schedule_marks_go AFTER DELETE ON schedules
BEGIN
	DELETE FROM schedule_marks WHERE schedule_id = old.id;
END;
