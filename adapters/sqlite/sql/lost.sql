-- Running rows whose lease has passed, by id.
--   ?1 now   ?2 id after which to begin   ?3 limit   ?4 later than any lease ends
SELECT {columns} FROM jobs INDEXED BY jobs_in_flight
WHERE  status IN (2, 3) AND status = 3 AND reap_at <= ?1 AND (lease_until IS NULL OR lease_until <= ?1 OR lease_until > ?4) AND id > ?2 AND {sound ?1}
ORDER BY id LIMIT ?3
