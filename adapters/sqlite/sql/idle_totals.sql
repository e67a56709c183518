-- Sums of types of which nothing has been counted since, to be folded into those of type ''.
--   ?1 the last minute before   ?2 limit
SELECT * FROM rollups WHERE minute = 0 AND type <> '' AND last_minute < ?1 AND last_minute > 0 LIMIT ?2
