-- Until when a type counts as unhandled.
--   ?1 type
SELECT unhandled_until FROM job_types WHERE type = ?1
