-- The definition of a type.
--   $1 type
SELECT {definition} FROM belfry.job_types WHERE type = $1::text AND defined_at IS NOT NULL;
