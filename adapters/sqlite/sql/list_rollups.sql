-- The counts of a span of minutes.
--   ?1 from   ?2 before
SELECT * FROM rollups WHERE minute >= ?1 AND minute < ?2
