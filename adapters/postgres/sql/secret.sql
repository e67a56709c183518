-- A secret of the installation.
--   $1 name
SELECT value FROM belfry.secrets WHERE name = $1::text;
