-- Delete ended jobs past their retention, the oldest first.
--   ?1 finished before   ?2 limit   ?3 behind so many
DELETE FROM job_history WHERE id IN (SELECT id FROM job_history WHERE finished_at < ?1 ORDER BY finished_at LIMIT ?2 OFFSET ?3)
