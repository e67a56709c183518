-- The next job's id: beyond the counter and beyond every row there is, in case someone turned the counter back. Numbers that
-- are never given were written by somebody else, and do not count.
SELECT MAX(
	COALESCE((SELECT value FROM meta WHERE name = 'next_id' AND value < 4611686018427387904), 1),
	COALESCE((SELECT MAX(id) FROM jobs WHERE id < 4611686018427387904), 0) + 1,
	COALESCE((SELECT MAX(id) FROM job_history WHERE id < 4611686018427387904), 0) + 1,
	COALESCE((SELECT MAX(id) FROM dead_letters WHERE id < 4611686018427387904), 0) + 1)
