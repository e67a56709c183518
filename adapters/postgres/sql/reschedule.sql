-- Give a job that has not started a new run_at; a queued one is scheduled again and its message worthless.
--   $1 clock offset  $2 id  $3 instant (null: now + delay)  $4 delay
UPDATE belfry.jobs
SET    run_at = coalesce($3::timestamptz, {now} + $4::interval), status = 1,
       lease_token = CASE WHEN status = 2 THEN {next_token} ELSE lease_token END,
       lease_until = '-infinity', reap_at = '-infinity', dispatches = 0
WHERE  id = $2::bigint AND (status + 0) IN (1, 2)
RETURNING {live};
