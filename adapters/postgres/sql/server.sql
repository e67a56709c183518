-- What the store relies on: the server's version, the isolation of transactions that name none, the encoding, whether
-- commits wait for the disk, and the process that answers.
SELECT current_setting('server_version_num'), current_setting('transaction_isolation'), current_setting('server_encoding'),
       current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'), pg_backend_pid();
