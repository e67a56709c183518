-- Rows with damaged values that raise no error: nothing is ever done with them, or their ids are ones that are never given.
--   $1 how many
SELECT 'job ' || id, type, CASE WHEN status = 1 THEN 'claim' WHEN status IN (2, 3) THEN 'publish' ELSE 'use' END, CASE
    WHEN status NOT IN (1, 2, 3) THEN format('the status is %s, which no live job has, so nothing is ever done with it: it must be 1 (scheduled), 2 (queued) or 3 (running)', status)
    WHEN status = 1 THEN format('run_at is %s, which never comes: set an earlier one', run_at)
    ELSE format('the priority is %s, which does not exist: it must be 1, 2 or 3', priority) END
FROM  (SELECT id, type, status, priority, run_at FROM belfry.jobs
       WHERE status NOT IN (1, 2, 3) OR status <> 1 AND priority NOT IN (1, 2, 3) OR status = 1 AND run_at > '9999-12-31 23:59:59.999999+00'
       ORDER BY id LIMIT $1::bigint) AS j
UNION ALL
SELECT 'schedule ' || id, name, 'advance', format('next_due is %s, which never comes: put the schedule again, or set an earlier one', next_due)
FROM  (SELECT id, name, next_due FROM belfry.schedules WHERE next_due > '9999-12-31 23:59:59.999999+00' ORDER BY next_due LIMIT $1::bigint) AS s
UNION ALL
SELECT 'token ' || id, left(name, 100), 'admit', format('the role is %s, which does not exist, so the token may do nothing: it must be admin, submit or read', quote_literal(left(role, 40)))
FROM  (SELECT id, name, role FROM belfry.tokens WHERE role NOT IN ('admin', 'submit', 'read') LIMIT $1::bigint) AS t
UNION ALL
SELECT what || ' ' || id, about, 'give ids', 'its id was changed: ids from 4611686018427387904 on are never given. Give the row another one, or delete it'
FROM  ((SELECT 'job' AS what, id, type AS about FROM belfry.jobs WHERE id >= 4611686018427387904 ORDER BY id LIMIT $1::bigint)
       UNION ALL (SELECT 'history', id, type FROM belfry.job_history WHERE id >= 4611686018427387904 ORDER BY id LIMIT $1::bigint)
       UNION ALL (SELECT 'dead_letter', id, type FROM belfry.dead_letters WHERE id >= 4611686018427387904 ORDER BY id LIMIT $1::bigint)
       UNION ALL (SELECT 'schedule', id, name FROM belfry.schedules WHERE id >= 4611686018427387904 ORDER BY id LIMIT $1::bigint)
       UNION ALL (SELECT 'alert', id, kind FROM belfry.alerts WHERE id >= 4611686018427387904 ORDER BY id LIMIT $1::bigint)) AS i;
