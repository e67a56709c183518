-- Ids of the dead letters that match, oldest first.
--   ?1 type, '' for any   ?2 tenant, NULL for any   ?3 ids as a JSON array, NULL for any   ?4 failed before   ?5 limit
SELECT id FROM dead_letters
WHERE finished_at < ?4 AND (?1 = '' OR type = ?1) AND (?2 IS NULL OR tenant = ?2)
	AND (?3 IS NULL OR id IN (SELECT value FROM json_each(?3)))
ORDER BY finished_at, id LIMIT ?5
