-- Give a schedule its next state.
--   ?1 id   ?2 anchor   ?3 accounted   ?4 next_due   ?5 waiting   ?6 paused_at   ?7 resumed   ?8 tz_data   ?9 expect_by   ?10 expected   ?11 alerted
UPDATE schedules
SET    anchor = ?2, accounted = ?3, next_due = ?4, waiting = ?5, paused_at = ?6, resumed = ?7, tz_data = ?8, expect_by = ?9, expected = ?10, alerted = ?11
WHERE  id = ?1
