-- Delete the sum of one priority and type.
--   ?1 priority   ?2 type
DELETE FROM rollups WHERE minute = 0 AND priority = ?1 AND type = ?2
