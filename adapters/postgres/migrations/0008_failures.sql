-- Alerts about jobs that failed for good, grouped by type and error. The transaction that moves jobs to the dead letters
-- notes each group once; WatchFailures takes the notes together, so that no finish waits for another's alert.

CREATE TABLE belfry.failure_notes (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    type        text COLLATE "C" NOT NULL,
    error_group text COLLATE "C" NOT NULL,
    count       bigint NOT NULL,
    newest      bigint NOT NULL, -- the dead letter whose error is told
    at          timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

ALTER TABLE belfry.alerts ADD COLUMN count bigint NOT NULL DEFAULT 0, -- what it counts: job_failed the jobs
    ADD COLUMN last_at timestamptz;                                   -- when that last rose

-- For their retention.
CREATE INDEX alerts_over ON belfry.alerts (cleared_at) WHERE cleared_at IS NOT NULL;

-- The text of a dead letter's last error, its first 200 characters. Whatever someone wrote into errors by hand, it answers.
CREATE FUNCTION belfry.last_error(errors json) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF json_typeof(errors) = 'array' THEN
        RETURN left(coalesce(errors -> -1 ->> 'error', ''), 200);
    END IF;
    RETURN '';
EXCEPTION WHEN OTHERS THEN -- text that no string of this database can hold
    RETURN '';
END
$$;
