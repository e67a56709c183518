-- What decides the end of attempts, without what is large.
--   ?1 ids as a JSON array
SELECT id, status, lease_token, lease_until, ended_token, cancel_wanted, attempts, max_attempts, snoozes, expires_at, errors
FROM   jobs WHERE id IN (SELECT value FROM json_each(?1))
