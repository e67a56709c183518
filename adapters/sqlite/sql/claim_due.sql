-- Make rows running: those a claim has taken, and those a start found queued under its token.
--   ?1 ids as a JSON array   ?2 lease until   ?3 claim id   ?4 worker id   ?5 now
UPDATE jobs
SET    status = 3, attempts = attempts + 1, lease_token = lease_token + (lease_token < 9223372036854775807),
       lease_until = ?2, reap_at = ?2, claim_id = ?3, worker_id = ?4, started_at = ?5
WHERE  id IN (SELECT value FROM json_each(?1))
