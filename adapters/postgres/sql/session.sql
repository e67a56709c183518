-- Settings of a session that is ours alone, which hold until it ends.
--   $1 lock timeout  $2 synchronous_commit, as it was found
SELECT set_config('lock_timeout', $1, false), set_config('synchronous_commit', $2, false), set_config('default_transaction_isolation', 'read committed', false);
