-- What is known of a type beside what workers announce.
--   ?1 type
SELECT type, unhandled_until, unhandled_wait, announced_at IS NOT NULL, COALESCE(CASE WHEN target IS NOT NULL THEN 1 WHEN delivered = 1 THEN 2 END, 0)
FROM   job_types WHERE type = ?1
