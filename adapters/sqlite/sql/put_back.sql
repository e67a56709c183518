-- Make a live job wait again.
--   ?1 id   ?2 run_at   ?3 lease_token   ?4 attempts   ?5 snoozes   ?6 ended_token   ?7 errors
UPDATE jobs
SET    status = 1, run_at = ?2, lease_token = ?3, attempts = ?4, snoozes = ?5, ended_token = ?6, errors = ?7,
       lease_until = NULL, reap_at = NULL, dispatches = 0
WHERE  id = ?1
