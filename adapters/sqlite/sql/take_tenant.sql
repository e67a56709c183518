-- Due rows of one tenant in one lane, in order of run_at.
--   ?1 priority   ?2 type   ?3 tenant, '' for rows without one   ?4 now   ?5 limit   ?6 buckets as bits
--   ?7 only rows with a target of their own
SELECT * FROM jobs
WHERE status = 1 AND priority = ?1 AND type = ?2 AND tenant = ?3 AND run_at <= ?4 AND {sound ?4} AND (?6 >> (id & 63)) & 1
	AND (NOT ?7 OR target IS NOT NULL)
ORDER BY run_at, id LIMIT ?5
