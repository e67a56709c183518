-- Every definition and every mark.
SELECT {definition} FROM belfry.job_types WHERE defined_at IS NOT NULL OR delivered ORDER BY type;
