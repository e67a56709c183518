-- A worker is gone.
--   $1 id
DELETE FROM belfry.workers WHERE id = $1::text;
