-- Let the reaper see rows in flight that someone left without a time for it.
--   ?1 now
UPDATE jobs INDEXED BY jobs_in_flight SET reap_at = ?1 WHERE status IN (2, 3) AND reap_at IS NULL AND {sound ?1}
