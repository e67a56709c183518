-- Forget rows that were set apart, met again and did not fail.
--   ?1 times that ended before   ?2 limit   ?3 behind so many
DELETE FROM set_apart WHERE (kind, row_id, name) IN (SELECT kind, row_id, name FROM set_apart WHERE retry_at < ?1 ORDER BY retry_at LIMIT ?2 OFFSET ?3)
