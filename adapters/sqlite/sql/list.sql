-- Jobs that match, newest id first. A table none of whose statuses is asked for is not read.
--   ?1 statuses as bits (1 << status)   ?2 type, '' for any   ?3 tenant, NULL for any   ?4 priority, 0 for any
--   ?5 tag, '' for any   ?6 run_at from   ?7 run_at before   ?8 id below   ?9 limit
SELECT * FROM jobs
WHERE ?1 & 14 <> 0 AND id < ?8 AND (?1 >> status) & 1 AND (?2 = '' OR type = ?2) AND (?3 IS NULL OR tenant = ?3)
	AND (?4 = 0 OR priority = ?4) AND run_at >= ?6 AND run_at < ?7
	AND (?5 = '' OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(tags) THEN tags ELSE '[]' END) WHERE value = ?5))
UNION ALL
SELECT * FROM job_history
WHERE ?1 & 80 <> 0 AND id < ?8 AND (?1 >> status) & 1 AND (?2 = '' OR type = ?2) AND (?3 IS NULL OR tenant = ?3)
	AND (?4 = 0 OR priority = ?4) AND run_at >= ?6 AND run_at < ?7
	AND (?5 = '' OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(tags) THEN tags ELSE '[]' END) WHERE value = ?5))
UNION ALL
SELECT * FROM dead_letters
WHERE ?1 & 32 <> 0 AND id < ?8 AND (?1 >> status) & 1 AND (?2 = '' OR type = ?2) AND (?3 IS NULL OR tenant = ?3)
	AND (?4 = 0 OR priority = ?4) AND run_at >= ?6 AND run_at < ?7
	AND (?5 = '' OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(tags) THEN tags ELSE '[]' END) WHERE value = ?5))
ORDER BY 1 DESC LIMIT ?9
