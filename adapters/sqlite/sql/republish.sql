-- Queued rows whose dispatch lease has passed.
--   ?1 now   ?2 buckets as bits   ?3 limit
SELECT {columns} FROM jobs INDEXED BY jobs_in_flight
WHERE  status IN (2, 3) AND status = 2 AND reap_at <= ?1 AND {sound ?1} AND (?2 >> (id & 63)) & 1
ORDER BY reap_at LIMIT ?3
