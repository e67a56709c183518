-- How many dead letters match.
--   the first four parameters of list_dead
SELECT COUNT(*) FROM dead_letters
WHERE finished_at < ?4 AND (?1 = '' OR type = ?1) AND (?2 IS NULL OR tenant = ?2)
	AND (?3 IS NULL OR id IN (SELECT value FROM json_each(?3)))
