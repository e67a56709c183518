-- A schedule's ledger, newest first.
--   ?1 schedule   ?2 instants from   ?3 rows that begin before   ?4 outcome or ''   ?5 most
SELECT from_at, to_at, count, outcome, reason, job_id, at FROM occurrences
WHERE  schedule_id = ?1 AND to_at >= ?2 AND from_at < ?3 AND (?4 = '' OR outcome = ?4)
ORDER  BY from_at DESC LIMIT ?5
