-- Queued rows by priority.
--   $1 most to read
SELECT priority, count(*) FROM (SELECT priority FROM belfry.jobs WHERE status = 2 LIMIT $1::bigint) q GROUP BY priority;
