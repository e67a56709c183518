-- Queued and running jobs that match, newest id first: found among the rows in flight, however many wait.
--   the parameters of list
SELECT * FROM jobs INDEXED BY jobs_in_flight
WHERE status IN (2, 3) AND id < ?8 AND (?1 >> status) & 1 AND (?2 = '' OR type = ?2) AND (?3 IS NULL OR tenant = ?3)
	AND (?4 = 0 OR priority = ?4) AND run_at >= ?6 AND run_at < ?7
	AND (?5 = '' OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(tags) THEN tags ELSE '[]' END) WHERE value = ?5))
ORDER BY id DESC LIMIT ?9
