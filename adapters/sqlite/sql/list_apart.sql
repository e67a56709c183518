-- Rows that are set apart, those of most tries first.
--   ?1 a time that ended before was in vain   ?2 limit
SELECT kind, row_id, name, about, act, error, tries, first_at, retry_at
FROM set_apart WHERE retry_at >= ?1 ORDER BY tries DESC, first_at, kind, row_id LIMIT ?2
