-- The newest migration that was applied, and the oldest program that works after it.
SELECT coalesce(max(version), 0)::bigint, coalesce(max(oldest), 0)::bigint FROM belfry.migrations;
