-- When the first waiting row of one lane is due.
--   ?1 priority   ?2 type
SELECT MIN(run_at) FROM (
	SELECT * FROM (SELECT run_at FROM jobs WHERE status = 1 AND priority = ?1 AND type = ?2 AND tenant = '' ORDER BY run_at LIMIT 1)
	UNION ALL
	SELECT * FROM (SELECT run_at FROM jobs WHERE status = 1 AND tenant <> '' AND priority = ?1 AND type = ?2 ORDER BY run_at LIMIT 1)
)
