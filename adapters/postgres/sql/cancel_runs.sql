-- Cancel jobs that have not started; on running ones, say that cancel is wanted. Those that are locked or not live do not
-- come back.
--   $1 clock offset  $2 ids
WITH locked AS MATERIALIZED (
    SELECT id AS ref, status AS was FROM belfry.jobs WHERE id = ANY ($2::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM belfry.jobs j USING locked l WHERE j.id = l.ref AND l.was IN (1, 2)
    RETURNING {j.raised}
), ended AS (
    INSERT INTO belfry.{history} ({record}, status, finished_at, reason)
    SELECT g.*, 6, {now}, 'cancelled' FROM gone g
    RETURNING id
), wanted AS (
    UPDATE belfry.jobs j SET cancel_wanted = true FROM locked l WHERE j.id = l.ref AND l.was = 3
    RETURNING j.id
)
SELECT id FROM ended UNION ALL SELECT id FROM wanted;
