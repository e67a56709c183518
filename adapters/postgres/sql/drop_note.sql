-- Take out the first note of failures.
DELETE FROM belfry.failure_notes WHERE id = (SELECT id FROM belfry.failure_notes ORDER BY id LIMIT 1 FOR UPDATE) RETURNING type, error_group;
