-- Make the dispatch lease of queued rows pass now, which were not published: that does not count. Rows that others have locked are left: their lease passes in time.
--   $1 clock offset  $2 ids  $3 lease tokens
WITH locked AS MATERIALIZED (
    SELECT j.id
    FROM   unnest($2::bigint[], $3::bigint[]) AS g (ref, token) JOIN belfry.jobs j ON j.id = g.ref AND j.lease_token = g.token
    WHERE  (j.status + 0) = 2
    ORDER  BY j.id
    FOR    UPDATE OF j SKIP LOCKED
)
UPDATE belfry.jobs SET lease_until = {now}, reap_at = {now}, dispatches = greatest(dispatches, 1) - 1 WHERE id = ANY (ARRAY(SELECT id FROM locked));
