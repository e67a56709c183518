-- Make what an unclean former holder queued due to be published again, once for each taking. It does not
-- count as published: that holder may have died before.
--   $1 clock offset  $2 holder
WITH fresh AS (
    UPDATE belfry.scheduler_leases
    SET    unclean = false
    WHERE  holder = $2::text AND unclean AND expires_at > clock_timestamp() + $1::interval
    RETURNING bucket, token
), found AS MATERIALIZED (
    SELECT id
    FROM   belfry.jobs
    WHERE  EXISTS (SELECT FROM fresh) AND status = 2 AND dispatch_fence < (SELECT token FROM fresh WHERE bucket = (id & 63)) AND {sound}
    ORDER  BY (id + 0)
    FOR    UPDATE SKIP LOCKED
)
UPDATE belfry.jobs SET lease_until = {now}, reap_at = {now}, dispatches = greatest(dispatches, 1) - 1 WHERE id = ANY (ARRAY(SELECT id FROM found));
