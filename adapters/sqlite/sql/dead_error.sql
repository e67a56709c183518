-- What the group of a dead letter is made of.
--   ?1 id
SELECT type, errors FROM dead_letters WHERE id = ?1
