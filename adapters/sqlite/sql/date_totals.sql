-- Sums whose last minute a program of before left out count from now.
--   ?1 now
UPDATE rollups SET last_minute = ?1 WHERE minute = 0 AND last_minute = 0
