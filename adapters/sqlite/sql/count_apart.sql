-- How many rows of each kind are set apart.
--   ?1 a time that ended before was in vain
SELECT kind, COUNT(*) FROM set_apart WHERE retry_at >= ?1 GROUP BY kind ORDER BY kind
