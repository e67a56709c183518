-- belfry:oldest 7
-- What a schedule's zone showed at accounted, so that no local time comes twice once the zone's rules are others; and whether
-- its rule could not be read when it was last looked at, which an alert says.

ALTER TABLE schedules ADD COLUMN zone_mark TEXT NOT NULL DEFAULT '';
ALTER TABLE schedules ADD COLUMN unreadable INTEGER NOT NULL DEFAULT 0;
