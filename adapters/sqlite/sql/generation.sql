-- How often the file of ids was written.
SELECT value FROM meta WHERE name = 'id_generation'
