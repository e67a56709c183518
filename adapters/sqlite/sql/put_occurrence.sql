-- Write a row of the ledger.
--   ?1 schedule   ?2 from   ?3 to   ?4 count   ?5 outcome   ?6 reason   ?7 job   ?8 now
INSERT INTO occurrences (schedule_id, from_at, to_at, count, outcome, reason, job_id, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
