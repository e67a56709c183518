-- Take notes of failures.
--   ?1 most
DELETE FROM failure_notes WHERE (type, error_group) IN (SELECT type, error_group FROM failure_notes LIMIT ?1)
RETURNING type, error_group, count, newest, at
