-- Queued rows by priority and type.
--   $1 most to read
SELECT priority, type, count(*) FROM (SELECT priority, type FROM belfry.jobs WHERE status = 2 LIMIT $1::bigint) q GROUP BY priority, type;
