-- Dead letters by type and error group, the largest group first, with the errors of the newest of each: of those that
-- match among the newest ?7 that the way leads to.
--   the parameters of list_dead, and   ?8 most groups
SELECT k.type, k.error_group, k.n, k.first, k.last, l.errors
FROM (
	SELECT s.type, COALESCE(y.error_group, '') AS error_group, COUNT(*) AS n, MIN(s.finished_at) AS first, MAX(s.finished_at) AS last, MAX(s.id) AS newest
	FROM (SELECT d.id, d.type, d.tenant, d.finished_at FROM {dead} AND {id} > ?6 ORDER BY {id} DESC LIMIT ?7) AS s
		LEFT JOIN dead_letter_groups y ON y.id = s.id
	WHERE {matches}
	GROUP BY 1, 2 ORDER BY n DESC, newest DESC LIMIT ?8
) AS k CROSS JOIN dead_letters l ON l.id = k.newest
ORDER BY k.n DESC, k.newest DESC
