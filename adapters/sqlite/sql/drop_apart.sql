-- Forget rows that no longer count as set apart: they were met again and did not fail.
--   ?1 since before when   ?2 limit   ?3 behind so many
DELETE FROM set_apart WHERE (kind, row_id, name) IN (SELECT kind, row_id, name FROM set_apart WHERE retry_at + {apart_over} < ?1 ORDER BY retry_at LIMIT ?2 OFFSET ?3)
