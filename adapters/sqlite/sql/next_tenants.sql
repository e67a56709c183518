-- Tenants with waiting rows in one lane, in order, and when the first row of each is due: one step down the
-- index for each, however many rows it has.
--   ?1 priority   ?2 type   ?3 tenant after which to begin   ?4 whether that one is included   ?5 limit
WITH RECURSIVE tenants (tenant, n) AS (
	SELECT (SELECT tenant FROM jobs WHERE status = 1 AND priority = ?1 AND type = ?2
		AND tenant >= ?3 AND (?4 OR tenant > ?3) ORDER BY tenant LIMIT 1), 1
	UNION ALL
	SELECT (SELECT j.tenant FROM jobs j WHERE j.status = 1 AND j.priority = ?1 AND j.type = ?2
		AND j.tenant > tenants.tenant ORDER BY j.tenant LIMIT 1), n + 1
	FROM tenants WHERE tenant IS NOT NULL AND n < ?5
)
SELECT tenant, (SELECT run_at FROM jobs j WHERE j.status = 1 AND j.priority = ?1 AND j.type = ?2
	AND j.tenant = tenants.tenant ORDER BY run_at LIMIT 1)
FROM tenants WHERE tenant IS NOT NULL
