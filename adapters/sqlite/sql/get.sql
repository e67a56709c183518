-- One job, wherever it is now.
--   ?1 id
SELECT * FROM jobs WHERE id = ?1
UNION ALL
SELECT * FROM job_history WHERE id = ?1
UNION ALL
SELECT * FROM dead_letters WHERE id = ?1
