-- No handler is here for the type: mark it, each time for twice as long. A mark that stands is left as it is.
--   ?1 type   ?2 now   ?3 first wait   ?4 longest wait
INSERT INTO job_types (type, unhandled_until, unhandled_wait) VALUES (?1, ?2 + ?3, ?3)
ON CONFLICT (type) DO UPDATE
SET   unhandled_wait = MIN(MAX(unhandled_wait * 2, ?3), ?4), unhandled_until = ?2 + MIN(MAX(unhandled_wait * 2, ?3), ?4)
WHERE unhandled_until <= ?2
