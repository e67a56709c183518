-- Whether this server accepts writes, and its schema version.
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean, coalesce(max(version), 0)::bigint FROM belfry.schema_versions;
