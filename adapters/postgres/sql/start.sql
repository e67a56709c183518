-- Make queued rows running whose token is equal. Rows that others have locked are passed over.
--   $1 clock offset  $2 lease  $3 worker  $4 claim id  $5 ids  $6 lease tokens
-- Kind 0: started. Kind 1: may not run, left as it was, to be ended by end_refused.
WITH locked AS MATERIALIZED (
    SELECT j.ctid AS place, j.id, j.lease_token, {may_run} AS may_run
    FROM   unnest($5::bigint[], $6::bigint[]) AS g (ref, token) JOIN belfry.jobs j ON j.id = g.ref AND j.lease_token = g.token
    WHERE  (j.status + 0) = 2 {j.targeted}
    ORDER  BY j.id
    FOR    UPDATE OF j SKIP LOCKED
), taken AS (
    UPDATE belfry.jobs
    SET    status = 3, attempts = attempts + 1, lease_token = {next_token}, claim_id = $4, worker_id = $3,
           started_at = {now}, lease_until = {now} + $2::interval, reap_at = {now} + $2::interval
    WHERE  ctid = ANY (ARRAY(SELECT place FROM locked WHERE may_run))
    RETURNING {record}
)
SELECT 0 AS kind, t.* FROM taken t
UNION ALL
SELECT 1, id, NULL, NULL, NULL, NULL, lease_token, 0, 0, 0, 0, 0, 0, 0, 0, '', '', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL
FROM   locked WHERE NOT may_run;
