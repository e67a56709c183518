-- Note on a running job that cancel is wanted.
--   ?1 id
UPDATE jobs SET cancel_wanted = 1 WHERE id = ?1 AND status = 3
