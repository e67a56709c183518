-- Rows with damaged values that raise no error: nothing is ever done with them, or their ids are ones that are never given.
--   ?1 how many
SELECT 'job ' || id, type, CASE WHEN status = 1 THEN 'claim' WHEN status IN (2, 3) THEN 'publish' ELSE 'use' END, CASE
	WHEN status NOT IN (1, 2, 3) THEN 'the status is ' || status || ', which no live job has, so nothing is ever done with it: it must be 1 (scheduled), 2 (queued) or 3 (running)'
	WHEN status = 1 THEN 'run_at is ' || run_at || ', which lies behind the year 9999 and never comes: set an earlier one'
	ELSE 'the priority is ' || priority || ', which does not exist: it must be 1, 2 or 3' END
FROM (SELECT id, type, status, priority, run_at FROM jobs INDEXED BY jobs_damaged
	WHERE status NOT IN (1, 2, 3) OR status <> 1 AND priority NOT IN (1, 2, 3) OR status = 1 AND run_at > 253402300799999999
	ORDER BY id LIMIT ?1)
UNION ALL
SELECT 'schedule ' || id, name, 'advance', 'next_due is ' || next_due || ', which lies behind the year 9999 and never comes: put the schedule again, or set an earlier one'
FROM (SELECT id, name, next_due FROM schedules INDEXED BY schedules_due WHERE next_due > 253402300799999999 ORDER BY next_due LIMIT ?1)
UNION ALL
SELECT 'token ' || id, substr(name, 1, 100), 'admit', 'the role is ' || quote(substr(role, 1, 40)) || ', which does not exist, so the token may do nothing: it must be admin, submit or read'
FROM (SELECT id, name, role FROM tokens WHERE role NOT IN ('admin', 'submit', 'read') LIMIT ?1)
UNION ALL
SELECT what || ' ' || id, about, 'give ids', 'its id was changed: ids from 4611686018427387904 on are never given. Give the row another one, or delete it'
FROM (SELECT * FROM (SELECT 'job' AS what, id, type AS about FROM jobs WHERE id >= 4611686018427387904 ORDER BY id LIMIT ?1)
	UNION ALL SELECT * FROM (SELECT 'history', id, type FROM job_history WHERE id >= 4611686018427387904 ORDER BY id LIMIT ?1)
	UNION ALL SELECT * FROM (SELECT 'dead_letter', id, type FROM dead_letters WHERE id >= 4611686018427387904 ORDER BY id LIMIT ?1)
	UNION ALL SELECT * FROM (SELECT 'schedule', id, name FROM schedules WHERE id >= 4611686018427387904 ORDER BY id LIMIT ?1)
	UNION ALL SELECT * FROM (SELECT 'alert', id, kind FROM alerts WHERE id >= 4611686018427387904 ORDER BY id LIMIT ?1))
