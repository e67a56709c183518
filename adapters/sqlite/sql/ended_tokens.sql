-- What a repeated finish has to know of jobs that have ended.
--   ?1 ids as a JSON array
SELECT id, status, ended_token FROM job_history WHERE id IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT id, status, ended_token FROM dead_letters WHERE id IN (SELECT value FROM json_each(?1))
