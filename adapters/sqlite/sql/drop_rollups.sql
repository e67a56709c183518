-- Delete counts of minutes long past and merged; the sums at minute 0 stay.
--   ?1 before   ?2 limit   ?3 behind so many
DELETE FROM rollups WHERE (minute, priority, type) IN (
	SELECT minute, priority, type FROM rollups WHERE minute > 0 AND minute < ?1 AND merged = 1 LIMIT ?2 OFFSET ?3)
