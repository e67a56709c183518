-- Clear alerts about failures of which no dead letter is left, or whose last one is long ago.
--   ?1 kind   ?2 now   ?3 long ago
UPDATE alerts SET cleared_at = ?2
WHERE kind = ?1 AND tenant = '' AND cleared_at IS NULL AND (last_at <= ?3 OR NOT CASE
	WHEN subject = 'other' THEN EXISTS (SELECT 1 FROM dead_letters)
	WHEN subject LIKE '%/other' THEN EXISTS (SELECT 1 FROM dead_letters d WHERE d.type = substr(subject, 1, length(subject) - 6))
	ELSE EXISTS (SELECT 1 FROM dead_letter_groups g WHERE g.error_group = substr(subject, -16)) END)
