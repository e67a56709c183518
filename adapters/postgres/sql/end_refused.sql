-- End rows that were due and may not run: expired ones are cancelled, those with no attempt left fail.
--   $1 clock offset  $2 ids  $3 lease tokens
WITH locked AS MATERIALIZED (
    SELECT j.id, coalesce(j.expires_at <= {now}, false) AS expired
    FROM   unnest($2::bigint[], $3::bigint[]) AS g (ref, token) JOIN belfry.jobs j ON j.id = g.ref AND j.lease_token = g.token
    WHERE  (j.status + 0) IN (1, 2) AND (j.expires_at <= {now} OR j.attempts >= j.max_attempts)
    ORDER  BY j.id
    FOR    UPDATE OF j SKIP LOCKED
), gone AS (
    DELETE FROM belfry.jobs WHERE id = ANY (ARRAY(SELECT id FROM locked))
    RETURNING {record}
), expired AS (
    INSERT INTO belfry.{history} ({record}, status, finished_at, reason)
    SELECT g.*, 6, {now}, 'expired' FROM gone g WHERE g.id IN (SELECT id FROM locked l WHERE l.expired)
    RETURNING id
), failed AS (
    INSERT INTO belfry.dead_letters ({record}, status, finished_at)
    SELECT g.*, 5, {now} FROM gone g WHERE g.id IN (SELECT id FROM locked l WHERE NOT l.expired)
    RETURNING id, type, error_group
), noted AS (
    INSERT INTO belfry.failure_notes (type, error_group, count, newest, at)
    SELECT type, error_group, count(*), max(id), {now} FROM failed GROUP BY type, error_group
)
SELECT id FROM expired UNION ALL SELECT id FROM failed;
