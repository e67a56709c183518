-- Return queued rows to scheduled because no handler is here, and mark those of their types that no live worker handles
-- that receives from queues:
-- for 30 s at first, after each mark that ran out for twice as long, up to 5 min. A mark in force stays as it is.
--   $1 clock offset  $2 ids  $3 lease tokens
WITH {consumers}, locked AS MATERIALIZED (
    SELECT j.id, j.type
    FROM   unnest($2::bigint[], $3::bigint[]) AS g (ref, token) JOIN belfry.jobs j ON j.id = g.ref AND j.lease_token = g.token
    WHERE  (j.status + 0) = 2
    ORDER  BY j.id
    FOR    UPDATE OF j SKIP LOCKED
), back AS (
    UPDATE belfry.jobs
    SET    status = 1, lease_token = {next_token}, lease_until = '-infinity', reap_at = '-infinity', dispatches = 0
    WHERE  id = ANY (ARRAY(SELECT id FROM locked))
)
INSERT INTO belfry.job_types AS t (type, unhandled_until, unhandled_wait)
SELECT l.type, {now} + interval '30 s', interval '30 s' FROM (SELECT DISTINCT type FROM locked) l WHERE NOT {l.handled} ORDER BY l.type
ON CONFLICT (type) DO UPDATE
SET    unhandled_wait = CASE WHEN t.unhandled_wait = '0' THEN interval '30 s' ELSE least(t.unhandled_wait * 2, interval '5 min') END,
       unhandled_until = {now} + CASE WHEN t.unhandled_wait = '0' THEN interval '30 s' ELSE least(t.unhandled_wait * 2, interval '5 min') END
WHERE  t.unhandled_until IS NULL OR t.unhandled_until <= {now};
