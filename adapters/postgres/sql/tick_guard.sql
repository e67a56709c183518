-- A tick may not outlive its bucket leases, so that a stuck one holds up no takeover.
--   $1 statement timeout
SELECT set_config('statement_timeout', $1::text, true);
