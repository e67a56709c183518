-- The dead man's switch of a type: a success is expected so many microseconds after expect_from, which is when the
-- switch was set, or the end of the newest minute in which a job of the type was done, as far as was looked.

ALTER TABLE belfry.job_types ADD COLUMN expect_within bigint, ADD COLUMN expect_from timestamptz;

CREATE INDEX job_types_expecting ON belfry.job_types (type) WHERE expect_within IS NOT NULL;

-- Merged minutes only: those that are still counted into pay nothing for it.
CREATE INDEX rollups_of_types ON belfry.rollups (type, minute) WHERE shard = -1;
