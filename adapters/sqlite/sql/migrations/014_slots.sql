-- How many slots a worker has for deliveries to targets, and how many of these are in use.
-- belfry:oldest 7

ALTER TABLE workers ADD COLUMN delivery_slots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN deliveries INTEGER NOT NULL DEFAULT 0;
