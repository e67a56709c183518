-- How many types are kept: definitions and marks. Triggers keep the number.
SELECT value FROM meta WHERE name = 'types_kept'
