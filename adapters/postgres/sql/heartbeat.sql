-- Extend the leases of running rows whose token is equal. Rows that others have locked are passed over.
-- A target's lease is never shortened: a worker's heartbeat may come after its acceptance.
--   $1 clock offset  $2 lease  $3 ids  $4 lease tokens
WITH locked AS MATERIALIZED (
    SELECT j.ctid AS place, g.item, j.cancel_wanted
    FROM   unnest($3::bigint[], $4::bigint[]) WITH ORDINALITY AS g (ref, token, item)
           JOIN belfry.jobs j ON j.id = g.ref AND j.lease_token = g.token
    WHERE  (j.status + 0) = 3
    ORDER  BY j.id
    FOR    UPDATE OF j SKIP LOCKED
), extended AS (
    UPDATE belfry.jobs
    SET    lease_until = CASE WHEN worker_id = 'target' THEN greatest(lease_until, {now} + $2::interval) ELSE {now} + $2 END
    WHERE  ctid = ANY (ARRAY(SELECT place FROM locked))
)
SELECT item, cancel_wanted FROM locked;
