-- Types that no worker handles, as far as anybody knows, with how many of their jobs are due or queued, most first, and with
-- each the count of all, up to a cap. Of many types at most a part of the cap is counted each. Rows of other types are not
-- counted; queued ones are few. Of types that have no target and that workers only deliver, as some of their jobs bring one, those
-- jobs count that bring none: they are looked for among the first that are due.
--   $1 clock offset  $2 cap  $3 most types
WITH RECURSIVE lanes AS (
    (SELECT priority, type FROM belfry.jobs WHERE status = 1 ORDER BY priority, type LIMIT 1)
    UNION ALL
    SELECT n.priority, n.type
    FROM   lanes l CROSS JOIN LATERAL (
        SELECT priority, type
        FROM   belfry.jobs
        WHERE  status = 1 AND (priority, type) > (l.priority, l.type)
        ORDER  BY priority, type LIMIT 1
    ) n
), {fleet}, {functions}, alone AS MATERIALIZED (
    SELECT * FROM lanes l WHERE NOT {l.handled} AND NOT {l.expected}
), due AS MATERIALIZED (
    SELECT l.type, count(*) AS n
    FROM   alone l CROSS JOIN LATERAL (SELECT FROM ({due}) r LIMIT greatest($2::bigint / (SELECT count(*) FROM alone), 100)) d
    GROUP  BY l.type
), delivered AS MATERIALIZED (
    SELECT * FROM lanes l WHERE {l.delivered} AND ({l.handled} OR {l.expected})
), without_target AS MATERIALIZED (
    SELECT l.type, count(*) FILTER (WHERE NOT d.targeted) AS n
    FROM   delivered l CROSS JOIN LATERAL (SELECT targeted FROM ({due_targets}) r LIMIT greatest($2::bigint / (SELECT count(*) FROM delivered), 100)) d
    GROUP  BY l.type
), queued AS MATERIALIZED (
    SELECT l.type, CASE WHEN NOT {l.handled} AND NOT {l.expected} THEN l.n WHEN {l.delivered} THEN l.without_target ELSE 0 END AS n
    FROM  (SELECT type, count(*) AS n, count(*) FILTER (WHERE target IS NULL) AS without_target
           FROM (SELECT type, target FROM belfry.jobs WHERE status = 2 LIMIT $2) q GROUP BY type) l
)
SELECT type, least(sum(n), $2)::bigint,
       least((SELECT count(*) FROM (SELECT FROM alone l CROSS JOIN LATERAL ({due}) d LIMIT $2) c) + (SELECT coalesce(sum(n), 0) FROM without_target)
           + (SELECT coalesce(sum(n), 0) FROM queued), $2)::bigint
FROM  (SELECT * FROM due UNION ALL SELECT * FROM without_target UNION ALL SELECT * FROM queued) u
WHERE  n > 0
GROUP  BY type
ORDER  BY 2 DESC, 1
LIMIT  $3::bigint;
