-- One dead letter.
--   ?1 id
SELECT * FROM dead_letters WHERE id = ?1
