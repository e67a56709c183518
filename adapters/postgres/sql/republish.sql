-- Queued rows whose dispatch lease has passed, to be published again under the same token; the lease doubles. Only of
-- buckets the holder has the lease of, which is locked first, as in dispatch. Rows that others have locked are left.
-- A dispatch lease that never ends is nobody's.
--   $1 clock offset  $2 first dispatch lease  $3 holder  $4 longest dispatch lease  $5 most
WITH held AS MATERIALIZED (
    SELECT bucket, token
    FROM   belfry.scheduler_leases
    WHERE  holder = $3::text AND expires_at > clock_timestamp() + $1::interval
    ORDER  BY bucket
    FOR    SHARE
), found AS MATERIALIZED (
    SELECT id FROM (
        SELECT id FROM belfry.jobs
        WHERE  status = 2 AND reap_at <= {now} AND (id & 63) = ANY (ARRAY(SELECT bucket FROM held)) AND {sound}
        ORDER  BY reap_at
        LIMIT  $5::bigint
        FOR    UPDATE SKIP LOCKED) passed
    UNION ALL
    SELECT id FROM (
        SELECT id FROM belfry.jobs
        WHERE  status = 2 AND reap_at > {never} AND (id & 63) = ANY (ARRAY(SELECT bucket FROM held)) AND {sound}
        ORDER  BY reap_at
        LIMIT  $5
        FOR    UPDATE SKIP LOCKED) never
)
UPDATE belfry.jobs
SET    dispatches = least(greatest(dispatches, 0), 1000000) + 1,
       lease_until = {now} + least($2::interval * power(2, least(greatest(dispatches, 0), 20)), $4::interval),
       reap_at = {now} + least($2 * power(2, least(greatest(dispatches, 0), 20)), $4),
       dispatch_fence = (SELECT token FROM held WHERE bucket = (id & 63))
WHERE  id = ANY (ARRAY(SELECT id FROM found))
RETURNING {brief};
