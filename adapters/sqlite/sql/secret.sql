-- A secret of the installation.
--   ?1 name
SELECT value FROM secrets WHERE name = ?1
