-- How many dead letters match, up to a limit.
--   the parameters of list_dead
SELECT COUNT(*) FROM (SELECT 1 FROM {dead} AND {id} > ?6 AND {matches} LIMIT ?7)
