-- Settings of the transaction that hot statements begin. A pooler's session may be one whose commits do not wait for the disk.
--   $1 lock timeout
SELECT set_config('lock_timeout', $1::text, true), set_config('enable_seqscan', 'off', true),
       set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
       set_config('plan_cache_mode', 'force_generic_plan', true),
       CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END;
