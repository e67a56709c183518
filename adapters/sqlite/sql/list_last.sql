-- The id of the last row that list looked at, unless they were fewer than it may.
--   the parameters of list
SELECT id FROM ({ids}) LIMIT 1 OFFSET ?10 - 1
