-- Delete alerts that were over before an instant, the oldest first.
--   ?1 over before   ?2 most   ?3 behind so many
DELETE FROM alerts WHERE id IN (SELECT id FROM alerts INDEXED BY alerts_over WHERE cleared_at IS NOT NULL AND cleared_at < ?1 ORDER BY cleared_at LIMIT ?2 OFFSET ?3)
