-- Cancel a job that has not started; on a running one, say that cancel is wanted. Nothing comes back when the job is
-- not live. A lock is waited for, up to the lock timeout.
--   $1 clock offset  $2 id
WITH locked AS MATERIALIZED (
    SELECT id AS ref, status AS was FROM belfry.jobs WHERE id = $2::bigint FOR UPDATE
), gone AS (
    DELETE FROM belfry.jobs j USING locked l WHERE j.id = l.ref AND l.was IN (1, 2)
    RETURNING {j.raised}
), ended AS (
    INSERT INTO belfry.{history} ({record}, status, finished_at, reason)
    SELECT g.*, 6, {now}, 'cancelled' FROM gone g
    RETURNING {ended}
), wanted AS (
    UPDATE belfry.jobs j SET cancel_wanted = true FROM locked l WHERE j.id = l.ref AND l.was = 3
    RETURNING {live}
)
SELECT * FROM ended UNION ALL SELECT * FROM wanted;
