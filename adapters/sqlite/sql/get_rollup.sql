-- The counts of one minute of one priority and type.
--   ?1 minute   ?2 priority   ?3 type
SELECT * FROM rollups WHERE minute = ?1 AND priority = ?2 AND type = ?3
