-- What doctor wants to know of the server: version, settings, clock, whether it takes writes, and the session of this
-- database with the oldest snapshot, as far as it may be seen.
SELECT current_setting('server_version'), current_setting('server_version_num')::bigint, current_setting('transaction_isolation'),
       current_setting('server_encoding'), current_setting('synchronous_commit'), pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean, clock_timestamp(),
       coalesce(extract(epoch FROM clock_timestamp() - s.xact_start), 0)::float8, coalesce(s.pid, 0)::bigint, coalesce(s.application_name, ''), coalesce(s.state, '')
FROM   (SELECT) one LEFT JOIN LATERAL (
    SELECT xact_start, pid, application_name, state
    FROM   pg_stat_activity
    WHERE  datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL AND xact_start IS NOT NULL
    ORDER  BY xact_start LIMIT 1
) s ON true;
