-- The newest migration that was applied.
SELECT coalesce(max(version), 0)::bigint FROM belfry.schema_versions;
