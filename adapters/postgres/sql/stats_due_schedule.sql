-- When the most overdue schedule was due.
--   $1 clock offset
SELECT next_due
FROM   belfry.schedules
WHERE  next_due <= {now}
ORDER  BY next_due
LIMIT  1;
