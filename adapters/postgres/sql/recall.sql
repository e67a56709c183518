-- Queued rows whose dispatch lease has passed, back to scheduled under a new token: the holder has no queue. Only of
-- buckets it has the lease of, which is locked first, as in dispatch. Rows that others have locked are left. A dispatch lease
-- that never ends is nobody's.
--   $1 clock offset  $2 holder  $3 most
WITH held AS MATERIALIZED (
    SELECT bucket
    FROM   belfry.scheduler_leases
    WHERE  holder = $2::text AND expires_at > clock_timestamp() + $1::interval
    ORDER  BY bucket
    FOR    SHARE
), found AS MATERIALIZED (
    SELECT id FROM (
        SELECT id FROM belfry.jobs
        WHERE  status = 2 AND reap_at <= {now} AND (id & 63) = ANY (ARRAY(SELECT bucket FROM held)) AND {sound}
        ORDER  BY reap_at
        LIMIT  $3::bigint
        FOR    UPDATE SKIP LOCKED) passed
    UNION ALL
    SELECT id FROM (
        SELECT id FROM belfry.jobs
        WHERE  status = 2 AND reap_at > {never} AND (id & 63) = ANY (ARRAY(SELECT bucket FROM held)) AND {sound}
        ORDER  BY reap_at
        LIMIT  $3
        FOR    UPDATE SKIP LOCKED) never
)
UPDATE belfry.jobs
SET    status = 1, lease_token = {next_token}, lease_until = '-infinity', reap_at = '-infinity', dispatches = 0
WHERE  id = ANY (ARRAY(SELECT id FROM found))
RETURNING id;
