-- End attempts in any way. Rows that others have locked are passed over; those that do not come back are so, or were
-- not running under that token. Cancel wanted makes any end but done and accepted a cancellation; one that is accepted
-- goes on under its token, in the hands of the job's target. An attempt that is handed back was none, cancelled or not.
--   $1 clock offset  $2 ids  $3 lease tokens  $4 outcomes  $5 waits  $6 error histories  $7 results  $8 only if the lease has passed
--   $9 the worker id of accepted ones
WITH given AS MATERIALIZED (
    SELECT *
    FROM   unnest($2::bigint[], $3::bigint[], $4::smallint[], $5::interval[], $6::json[], $7::json[], $8::boolean[])
           AS g (ref, token, outcome, wait, new_errors, result, lost)
), locked AS MATERIALIZED (
    SELECT g.*, j.id, CASE WHEN g.outcome = 1 THEN 4 WHEN g.outcome = 6 THEN 3 WHEN j.cancel_wanted THEN 6 WHEN g.outcome = 2 THEN 5 ELSE 1 END AS now_status
    FROM   given g JOIN belfry.jobs j ON j.id = g.ref AND j.lease_token = g.token
    WHERE  (j.status + 0) = 3 AND (NOT g.lost OR {j.passed})
    ORDER  BY j.id
    FOR    UPDATE OF j {skip_locked}
), back AS (
    UPDATE belfry.jobs j
    SET    status = 1, run_at = {now} + l.wait, ended_token = lease_token, lease_token = {next_token},
           attempts = CASE WHEN l.outcome IN (4, 5, 7) THEN greatest(attempts, 1) - 1 ELSE attempts END,
           snoozes = CASE WHEN l.outcome = 4 THEN least(snoozes, 2000000000) + 1 ELSE snoozes END,
           errors = CASE WHEN l.outcome = 5 THEN errors ELSE l.new_errors END,
           lease_until = '-infinity', reap_at = '-infinity', claim_id = 0, worker_id = NULL, dispatches = 0, cancel_wanted = false
    FROM   locked l
    WHERE  j.id = l.id AND l.now_status = 1
    RETURNING j.id, j.ended_token
), handed AS (
    UPDATE belfry.jobs j
    SET    lease_until = {now} + l.wait, reap_at = {now} + l.wait, claim_id = 0, worker_id = $9::text
    FROM   locked l
    WHERE  j.id = l.id AND l.now_status = 3
    RETURNING j.id, j.lease_token
), gone AS (
    DELETE FROM belfry.jobs j
    USING  locked l
    WHERE  j.id = l.id AND l.now_status IN (4, 5, 6)
    RETURNING {j.given_up}, coalesce(l.new_errors, j.errors), l.result, l.now_status
), ended AS (
    INSERT INTO belfry.{history} ({record}, result, status, finished_at, reason)
    SELECT g.*, {now}, CASE WHEN g.now_status = 6 THEN 'cancelled' END FROM gone g WHERE g.now_status IN (4, 6)
    RETURNING id, ended_token, status
), failed AS (
    INSERT INTO belfry.dead_letters ({record}, result, status, finished_at)
    SELECT g.*, {now} FROM gone g WHERE g.now_status = 5
    RETURNING id, ended_token, type, error_group
), noted AS (
    {note_failures}
)
SELECT id, ended_token, 1::smallint FROM back
UNION ALL
SELECT id, lease_token, 3 FROM handed
UNION ALL
SELECT id, ended_token, status FROM ended
UNION ALL
SELECT id, ended_token, 5 FROM failed;
