-- How many alerts are open, by kind, of up to a cap.
--   ?1 cap
SELECT kind, COUNT(*) FROM (SELECT kind FROM alerts WHERE cleared_at IS NULL LIMIT ?1) GROUP BY kind ORDER BY kind
