-- Rows that were set apart and not told yet; they count as told.
--   $1 most
UPDATE belfry.set_apart SET told = true
WHERE  (kind, row_id, name) IN (SELECT kind, row_id, name FROM belfry.set_apart WHERE NOT told ORDER BY first_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED)
RETURNING kind, row_id, name, about, act, error, tries, first_at, retry_at;
