-- Give a schedule a new rule. A version that was damaged to be the greatest number there is begins at 1 again.
--   ?1 id   ?2 rule   ?3 payload   ?4 type   ?5 paused   ?6 exclusive   ?7 now
UPDATE schedules SET rule = ?2, payload = ?3, type = ?4, paused = ?5, exclusive = ?6, updated_at = ?7, version = version % 9223372036854775807 + 1 WHERE id = ?1
