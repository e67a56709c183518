-- How many rows of a kind are set apart, counted up to a bound.
--   ?1 kind   ?2 bound
SELECT COUNT(*) FROM (SELECT 1 FROM set_apart WHERE kind = ?1 LIMIT ?2)
