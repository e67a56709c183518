-- The alerts about failures that are open.
--   ?1 kind
SELECT subject FROM alerts INDEXED BY alerts_open WHERE kind = ?1 AND tenant = '' AND cleared_at IS NULL
