-- The dead man's switch of a type: a success is expected so many microseconds after expect_from, which is when the
-- switch was set, or the end of the newest minute in which a job of the type was done, as far as was looked.

ALTER TABLE job_types ADD COLUMN expect_within INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_types ADD COLUMN expect_from INTEGER;

CREATE INDEX job_types_expecting ON job_types (type) WHERE expect_within > 0;
CREATE INDEX rollups_of_types ON rollups (type, minute) WHERE minute > 0;
