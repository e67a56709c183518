-- How many dead letters there are, up to a limit.
--   ?1 limit
SELECT COUNT(*) FROM (SELECT 1 FROM dead_letters LIMIT ?1)
