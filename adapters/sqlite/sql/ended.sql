-- The status of those jobs that have ended.
--   ?1 ids as a JSON array
SELECT id, status FROM job_history WHERE id IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT id, status FROM dead_letters WHERE id IN (SELECT value FROM json_each(?1))
