-- How many alerts are open, by kind.
SELECT kind, COUNT(*) FROM alerts WHERE cleared_at IS NULL GROUP BY kind ORDER BY kind
