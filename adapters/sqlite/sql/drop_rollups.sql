-- Delete counts of minutes long past; the sums since the first job stay, at minute 0.
--   ?1 before
DELETE FROM rollups WHERE minute > 0 AND minute < ?1
