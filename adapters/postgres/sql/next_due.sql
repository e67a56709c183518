-- The store's clock, and when the first row of the lanes becomes due that is not due yet.
--   $1 clock offset  $2 priorities  $3 types
SELECT {now}, min(n.run_at)
FROM   unnest($2::smallint[], $3::text[]) AS q (priority, type) CROSS JOIN LATERAL (
    (SELECT run_at FROM belfry.jobs
     WHERE  status = 1 AND priority = q.priority AND type = q.type AND tenant = '' AND run_at > {now}
     ORDER  BY run_at LIMIT 1)
    UNION ALL
    (SELECT run_at FROM belfry.jobs
     WHERE  status = 1 AND priority = q.priority AND type = q.type AND tenant <> '' AND run_at > {now}
     ORDER  BY run_at LIMIT 1)
) n;
