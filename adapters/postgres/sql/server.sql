-- What the store relies on: the server's version, the isolation of transactions that name none, and the encoding.
SELECT current_setting('server_version_num')::bigint, current_setting('transaction_isolation'), current_setting('server_encoding'),
       current_setting('synchronous_commit');
