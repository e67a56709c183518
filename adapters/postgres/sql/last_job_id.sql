-- The id that was given last, 0 if none was.
SELECT coalesce(pg_sequence_last_value('belfry.job_ids'::regclass), 0);
