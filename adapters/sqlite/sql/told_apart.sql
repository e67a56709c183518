-- Note that a row that was set apart was told.
--   ?1 kind   ?2 id   ?3 name
UPDATE set_apart SET told = 1 WHERE kind = ?1 AND row_id = ?2 AND name = ?3
