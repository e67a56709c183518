-- Whether this server accepts writes, whether this role may write, and the schema's version.
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
       has_table_privilege('belfry.jobs', 'INSERT') AND has_table_privilege('belfry.jobs', 'UPDATE')
           AND has_table_privilege('belfry.jobs', 'DELETE') AND has_sequence_privilege('belfry.job_ids', 'USAGE'),
       coalesce(max(version), 0)::bigint
FROM belfry.schema_versions;
