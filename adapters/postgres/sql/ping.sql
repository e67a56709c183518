-- Whether this server accepts writes, which rights to write and to make tables this role lacks, and the schema's version:
-- the newest migration, and the oldest program that works after it.
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
       {missing_to_write}, {missing_to_maintain},
       coalesce(max(version), 0)::bigint, coalesce(max(oldest), 0)::bigint
FROM belfry.migrations;
