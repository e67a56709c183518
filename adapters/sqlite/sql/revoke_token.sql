-- Remove a token.
--   ?1 id
DELETE FROM tokens WHERE id = ?1
