-- Rows that were set apart and not told yet.
--   ?1 limit
SELECT kind, row_id, name, about, act, error, tries, first_at, retry_at FROM set_apart WHERE told = 0 ORDER BY first_at LIMIT ?1
