-- Cancel scheduled jobs whose expires_at has passed. Rows that others have locked are left for the next time.
--   $1 clock offset  $2 most
WITH found AS MATERIALIZED (
    SELECT id
    FROM   belfry.jobs
    WHERE  (status + 0) = 1 AND expires_at IS NOT NULL AND expires_at <= {now} AND {sound}
    ORDER  BY expires_at
    LIMIT  $2::bigint
    FOR    UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM belfry.jobs WHERE id = ANY (ARRAY(SELECT id FROM found))
    RETURNING {record}
)
INSERT INTO belfry.{history} ({record}, status, finished_at, reason)
SELECT g.*, 6, {now}, 'expired' FROM gone g
RETURNING id;
