-- Clear an alert that is open.
--   ?1 kind   ?2 tenant   ?3 subject   ?4 now
UPDATE alerts SET cleared_at = ?4 WHERE kind = ?1 AND tenant = ?2 AND subject = ?3 AND cleared_at IS NULL
