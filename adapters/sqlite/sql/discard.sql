-- Delete dead letters.
--   ?1 ids as a JSON array
DELETE FROM dead_letters WHERE id IN (SELECT value FROM json_each(?1))
