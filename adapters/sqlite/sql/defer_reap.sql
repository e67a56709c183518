-- Move the reaper's time of running rows whose lease was extended meanwhile; never far, for it may be given up sooner.
-- A lease later than any that is written is nobody's.
--   ?1 now   ?2 later than any lease ends   ?3 farthest
UPDATE jobs INDEXED BY jobs_in_flight SET reap_at = MIN(lease_until, ?3)
WHERE  status IN (2, 3) AND status = 3 AND reap_at <= ?1 AND lease_until > ?1 AND lease_until <= ?2 AND {sound ?1}
