-- Rows that are set apart, those with the most tries first.
--   ?1 now   ?2 limit
SELECT kind, row_id, name, about, act, error, tries, first_at, retry_at
FROM set_apart WHERE retry_at + {apart_over} >= ?1 ORDER BY tries DESC, first_at, kind, row_id LIMIT ?2
