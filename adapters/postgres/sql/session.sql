-- What the store relies on: the server's version, the isolation of transactions that name none, the encoding, whether
-- commits wait for the disk. And whether the session is ours alone, which it is when the process that answers is the one that
-- let us in: then it gets settings that hold until it ends, commits as they were found.
--   $1 that process  $2 lock timeout
SELECT current_setting('server_version_num'), current_setting('transaction_isolation'), current_setting('server_encoding'),
       current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'), own,
       CASE WHEN own THEN set_config('lock_timeout', $2::text, false) END,
       CASE WHEN own THEN set_config('synchronous_commit', current_setting('synchronous_commit'), false) END,
       CASE WHEN own THEN set_config('default_transaction_isolation', 'read committed', false) END
FROM   (SELECT pg_backend_pid() = $1::bigint AS own) s;
