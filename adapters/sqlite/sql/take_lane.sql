-- Due rows of one lane in order of run_at, whoever's they are.
--   ?1 priority   ?2 type   ?3 ?4 the mark: run_at and id of the last row to skip   ?5 now   ?6 limit
--   ?7 buckets as bits   ?8 only rows with a target of their own
SELECT {columns} FROM jobs
WHERE status = 1 AND priority = ?1 AND type = ?2 AND tenant = '' AND run_at <= ?5 AND (run_at, id) > (?3, ?4) AND {sound ?5}
	AND (?7 >> (id & 63)) & 1 AND (NOT ?8 OR target IS NOT NULL)
UNION ALL
SELECT {columns} FROM jobs
WHERE status = 1 AND tenant <> '' AND priority = ?1 AND type = ?2 AND run_at <= ?5 AND (run_at, id) > (?3, ?4) AND {sound ?5}
	AND (?7 >> (id & 63)) & 1 AND (NOT ?8 OR target IS NOT NULL)
ORDER BY run_at, id LIMIT ?6
