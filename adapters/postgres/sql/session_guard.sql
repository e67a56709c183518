-- What a session of our own has from its beginning, for one transaction in a pooler's session.
--   $1 lock timeout
SELECT set_config('lock_timeout', $1::text, true),
       CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END;
