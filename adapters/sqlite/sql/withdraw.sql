-- A worker is gone.
--   ?1 id
DELETE FROM workers WHERE id = ?1
