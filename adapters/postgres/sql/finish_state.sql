-- What became of attempts that finish did not end: still running under the token (locked by another), ended before
-- under it, or neither.
--   $1 clock offset  $2 ids  $3 lease tokens  $4 only if the lease has passed
SELECT g.item, f.status,
       coalesce(f.running AND f.lease_token = g.token AND (NOT g.lost OR {f.passed}), false) AS busy,
       coalesce(f.ended_token = g.token AND g.token <> 0, false) AS repeated
FROM   unnest($2::bigint[], $3::bigint[], $4::boolean[]) WITH ORDINALITY AS g (ref, token, lost, item)
LEFT   JOIN LATERAL (
    SELECT (status + 0) = 3 AS running, CASE WHEN status IN (2, 3) AND ended_token = g.token THEN 1 ELSE status END AS status, lease_token, ended_token, lease_until FROM belfry.jobs WHERE id = g.ref
    UNION ALL
    SELECT false, status, lease_token, ended_token, '-infinity' FROM belfry.job_history WHERE id = g.ref
    UNION ALL
    SELECT false, status, lease_token, ended_token, '-infinity' FROM belfry.dead_letters WHERE id = g.ref
    UNION ALL
    SELECT false, status, lease_token, ended_token, '-infinity' FROM belfry.job_history_overflow WHERE id = g.ref
    LIMIT  1
) f ON true;
