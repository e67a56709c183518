-- Let the reaper see rows in flight that it was never to look at.
--   ?1 now   ?2 later than any lease ends
UPDATE jobs INDEXED BY jobs_in_flight SET reap_at = ?1 WHERE status IN (2, 3) AND reap_at > ?2 AND {sound ?1}
