-- Keep the group of a dead letter.
--   ?1 id   ?2 error group
INSERT INTO dead_letter_groups (id, error_group) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET error_group = excluded.error_group
