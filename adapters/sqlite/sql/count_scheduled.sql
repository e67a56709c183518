-- How many rows of a priority wait, up to a limit.
--   ?1 priority   ?2 limit
SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE status = 1 AND priority = ?1 LIMIT ?2)
