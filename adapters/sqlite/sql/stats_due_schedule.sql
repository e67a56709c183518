-- When the most overdue schedule was due.
--   ?1 now
SELECT next_due FROM schedules WHERE next_due <= ?1 ORDER BY next_due LIMIT 1
