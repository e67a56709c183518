-- Counts that are not part of the sums at minute 0 yet.
--   ?1 minutes before   ?2 limit
SELECT * FROM rollups WHERE merged = 0 AND minute < ?1 ORDER BY minute LIMIT ?2
