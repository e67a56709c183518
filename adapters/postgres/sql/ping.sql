-- Whether this server accepts writes, whether this role may write, and the schema's version: the
-- newest migration, and the oldest program that works after it.
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
       has_table_privilege('belfry.jobs', 'INSERT') AND has_table_privilege('belfry.jobs', 'UPDATE')
           AND has_table_privilege('belfry.jobs', 'DELETE') AND has_sequence_privilege('belfry.job_ids', 'USAGE'),
       coalesce(max(version), 0)::bigint, coalesce(max(oldest), 0)::bigint
FROM belfry.migrations;
