-- What doctor wants to know of the schema: buckets that a scheduler holds now, and for how many days ahead, today not
-- counted, history partitions are attached without a gap.
SELECT (SELECT count(*) FROM belfry.scheduler_leases WHERE holder <> '' AND expires_at > clock_timestamp()),
       (SELECT coalesce(min(ahead) - 1, 30)
        FROM   generate_series(1, 31) AS ahead
        WHERE  NOT EXISTS (
            SELECT FROM pg_inherits
            WHERE  inhparent = 'belfry.job_history'::regclass
              AND  inhrelid = to_regclass('belfry.job_history_' || to_char((now() AT TIME ZONE 'UTC')::date + ahead, 'YYYYMMDD'))));
