-- Let the server end this transaction when its owner falls silent.
--   $1 for how long
SELECT set_config('idle_in_transaction_session_timeout', $1::text, true);
