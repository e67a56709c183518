-- Rows of the overflow history, up to a cap, and the day of one of them.
--   $1 cap
SELECT count(*), (min(finished_at) AT TIME ZONE 'UTC')::date::text FROM (SELECT finished_at FROM belfry.job_history_overflow LIMIT $1::bigint) o;
