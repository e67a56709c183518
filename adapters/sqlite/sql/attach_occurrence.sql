-- Give the ledger rows of a run that waited its job.
--   ?1 schedule   ?2 from   ?3 to   ?4 job
UPDATE occurrences SET job_id = ?4
WHERE  schedule_id = ?1 AND from_at >= ?2 AND to_at <= ?3 AND job_id = 0 AND outcome <> 'skipped'
