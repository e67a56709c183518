-- How many slots a worker has for deliveries to targets, and how many of these are in use.
-- belfry:oldest 8

ALTER TABLE belfry.workers
    ADD COLUMN IF NOT EXISTS delivery_slots integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS deliveries     integer NOT NULL DEFAULT 0;
