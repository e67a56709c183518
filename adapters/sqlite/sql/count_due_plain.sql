-- How many of the first rows of a lane that are due bring no target.
--   ?1 priority   ?2 type   ?3 now   ?4 how many are looked at
SELECT COUNT(*) FROM (
	SELECT target FROM jobs WHERE status = 1 AND priority = ?1 AND type = ?2 AND tenant = '' AND run_at <= ?3
	UNION ALL
	SELECT target FROM jobs WHERE status = 1 AND tenant <> '' AND priority = ?1 AND type = ?2 AND run_at <= ?3
	LIMIT ?4)
WHERE target IS NULL
