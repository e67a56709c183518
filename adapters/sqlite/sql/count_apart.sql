-- How many rows of each kind are set apart.
--   ?1 now
SELECT kind, COUNT(*) FROM set_apart WHERE retry_at + {apart_over} >= ?1 GROUP BY kind ORDER BY kind
