-- The lanes with waiting rows: when the first row of each is due, and what is known of its type beside what workers
-- announce. One step down the index for each, however many rows it has.
WITH RECURSIVE lanes (id) AS (
	SELECT (SELECT id FROM jobs WHERE status = 1 ORDER BY priority, type LIMIT 1)
	UNION ALL
	SELECT COALESCE(
		(SELECT n.id FROM jobs n WHERE n.status = 1 AND n.priority = j.priority AND n.type > j.type ORDER BY n.type LIMIT 1),
		(SELECT n.id FROM jobs n WHERE n.status = 1 AND n.priority > j.priority ORDER BY n.priority, n.type LIMIT 1))
	FROM lanes CROSS JOIN jobs j ON j.id = lanes.id
)
SELECT j.priority, j.type,
	MIN(COALESCE((SELECT d.run_at FROM jobs d WHERE d.status = 1 AND d.priority = j.priority AND d.type = j.type AND d.tenant = ''
			ORDER BY d.run_at LIMIT 1), 9223372036854775807),
		COALESCE((SELECT d.run_at FROM jobs d WHERE d.status = 1 AND d.tenant <> '' AND d.priority = j.priority AND d.type = j.type
			ORDER BY d.run_at LIMIT 1), 9223372036854775807)),
	COALESCE(t.unhandled_until, 0), COALESCE(t.unhandled_wait, 0), t.announced_at IS NOT NULL,
	COALESCE(CASE WHEN t.target IS NOT NULL THEN 1 WHEN t.delivered = 1 THEN 2 END, 0)
FROM lanes CROSS JOIN jobs j ON j.id = lanes.id LEFT JOIN job_types t ON t.type = j.type
