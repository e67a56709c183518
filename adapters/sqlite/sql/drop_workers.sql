-- Forget workers that have not been seen for long: functions after one time, others after another.
--   ?1 functions seen before   ?2 others
DELETE FROM workers WHERE seen_at < CASE WHEN function = 1 THEN ?1 ELSE ?2 END
