-- How many rows of a tenant wait in a lane, up to a limit, how many of those are due, and when the first is.
--   ?1 priority   ?2 type   ?3 tenant   ?4 now   ?5 limit
SELECT COUNT(*), COUNT(*) FILTER (WHERE run_at <= ?4), MIN(run_at)
FROM (SELECT run_at FROM jobs WHERE status = 1 AND priority = ?1 AND type = ?2 AND tenant = ?3 ORDER BY run_at LIMIT ?5)
