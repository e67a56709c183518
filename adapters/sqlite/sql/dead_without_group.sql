-- Dead letters that have no group yet, in the order of their ids.
--   ?1 ids above   ?2 limit
SELECT id, type, errors FROM dead_letters
WHERE id > ?1 AND NOT EXISTS (SELECT 1 FROM dead_letter_groups g WHERE g.id = dead_letters.id)
ORDER BY id LIMIT ?2
