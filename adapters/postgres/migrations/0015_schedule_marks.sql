-- What a schedule's zone showed at accounted, so that no local time comes twice once the zone's rules are others; and whether
-- its rule could not be read when it was last looked at, which an alert says.
-- belfry:oldest 8

ALTER TABLE belfry.schedules
    ADD COLUMN IF NOT EXISTS zone_mark text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS unreadable boolean NOT NULL DEFAULT false;
