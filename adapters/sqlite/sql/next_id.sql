-- The next job's id: beyond the counter and beyond every row there is, in case someone turned the counter back.
SELECT MAX(
	COALESCE((SELECT value FROM meta WHERE name = 'next_id'), 1),
	COALESCE((SELECT MAX(id) FROM jobs), 0) + 1,
	COALESCE((SELECT MAX(id) FROM job_history), 0) + 1,
	COALESCE((SELECT MAX(id) FROM dead_letters), 0) + 1)
