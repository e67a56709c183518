-- Delete one dead letter.
--   ?1 id
DELETE FROM dead_letters WHERE id = ?1
