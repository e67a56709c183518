-- Delete dead letters past their retention, the oldest first.
--   ?1 failed before   ?2 limit   ?3 behind so many
DELETE FROM dead_letters WHERE id IN (SELECT id FROM dead_letters WHERE finished_at < ?1 ORDER BY finished_at LIMIT ?2 OFFSET ?3)
