-- Give a schedule its next state. A count that was damaged to be the greatest number there is begins at 1 again.
--   ?1 id   ?2 anchor   ?3 accounted   ?4 next_due   ?5 waiting   ?6 paused_at   ?7 tz_data   ?8 expect_by   ?9 expected   ?10 alerted
UPDATE schedules
SET    anchor = ?2, accounted = ?3, next_due = ?4, waiting = ?5, paused_at = ?6, tz_data = ?7, expect_by = ?8, expected = ?9, alerted = ?10, moves = moves % 9223372036854775807 + 1
WHERE  id = ?1
