-- Whether this server accepts writes, the schema's version, which is the newest migration and the oldest program that works
-- after it, and the rights that this role lacks, as in missing_rights.
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
       coalesce(max(version), 0)::bigint, coalesce(max(oldest), 0)::bigint,
       {missing_rights}
FROM belfry.migrations;
