-- End rows that were due and may not run: expired ones are cancelled, those with no attempt left fail, with an error that
-- says so behind the last of those they have.
--   $1 clock offset  $2 ids  $3 lease tokens  $4 errors kept  $5 the error's text
WITH locked AS MATERIALIZED (
    SELECT j.id, coalesce(j.expires_at <= {now}, false) AS expired
    FROM   unnest($2::bigint[], $3::bigint[]) AS g (ref, token) JOIN belfry.jobs j ON j.id = g.ref AND j.lease_token = g.token
    WHERE  (j.status + 0) IN (1, 2) AND (j.expires_at <= {now} OR j.attempts >= j.max_attempts)
    ORDER  BY j.id
    FOR    UPDATE OF j SKIP LOCKED
), gone AS (
    DELETE FROM belfry.jobs j
    USING  locked l
    WHERE  j.id = l.id
    RETURNING {j.all_but_errors}, CASE WHEN l.expired THEN j.errors ELSE (
        SELECT json_agg(e.value ORDER BY e.n)
        FROM  (SELECT value, n, count(*) OVER () AS all
               FROM   json_array_elements(CASE WHEN json_typeof(j.errors) = 'array' THEN j.errors ELSE '[]' END) WITH ORDINALITY AS x (value, n)
               UNION ALL
               SELECT json_build_object('attempt', j.attempts, 'at', to_char({now} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                          'error', format('%s: %s of %s were used', $5::text, j.attempts, j.max_attempts), 'kind', 'error'), 1000000000, 0) e
        WHERE  e.n > e.all - ($4::bigint - 1)
    ) END, CASE WHEN l.expired THEN 6 ELSE 5 END::smallint AS now_status
), expired AS (
    INSERT INTO belfry.{history} ({record}, status, finished_at, reason)
    SELECT g.*, {now}, 'expired' FROM gone g WHERE g.now_status = 6
    RETURNING id
), failed AS (
    INSERT INTO belfry.dead_letters ({record}, status, finished_at)
    SELECT g.*, {now} FROM gone g WHERE g.now_status = 5
    RETURNING id, type, error_group
), noted AS (
    {note_failures}
)
SELECT id FROM expired UNION ALL SELECT id FROM failed;
