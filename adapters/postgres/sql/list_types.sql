-- Definitions by name.
--   $1 after this name  $2 most
SELECT {definition} FROM belfry.job_types WHERE type > $1::text AND defined_at IS NOT NULL ORDER BY type LIMIT $2::bigint;
