-- Move the reaper's time of running rows whose lease was extended meanwhile; never far, since a damaged lease
-- may be mended later.
--   ?1 now   ?2 farthest
UPDATE jobs INDEXED BY jobs_in_flight SET reap_at = MIN(lease_until, ?2)
WHERE  status IN (2, 3) AND status = 3 AND reap_at <= ?1 AND lease_until > ?1
