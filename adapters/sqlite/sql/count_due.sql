-- How many rows of a lane are due, up to a limit.
--   ?1 priority   ?2 type   ?3 now   ?4 limit
SELECT COUNT(*) FROM (
	SELECT 1 FROM jobs WHERE status = 1 AND priority = ?1 AND type = ?2 AND tenant = '' AND run_at <= ?3
	UNION ALL
	SELECT 1 FROM jobs WHERE status = 1 AND tenant <> '' AND priority = ?1 AND type = ?2 AND run_at <= ?3
	LIMIT ?4)
