-- belfry:oldest 7
-- How many microseconds after they may first start the jobs of a type expire; 0 means never.

ALTER TABLE job_types ADD COLUMN expires_after INTEGER NOT NULL DEFAULT 0;
