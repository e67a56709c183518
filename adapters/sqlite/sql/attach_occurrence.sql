-- Give a ledger row the job that runs it.
--   ?1 schedule   ?2 from   ?3 job
UPDATE occurrences SET job_id = ?3 WHERE schedule_id = ?1 AND from_at = ?2 AND job_id = 0
