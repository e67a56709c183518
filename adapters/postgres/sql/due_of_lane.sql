-- The first due jobs of a lane, as claim_due takes them.
--   $1 clock offset  $2 priority  $3 type  $4 most
SELECT id
FROM  ((SELECT id, run_at FROM belfry.jobs
        WHERE  status = 1 AND priority = $2::smallint AND type = $3::text AND tenant = '' AND run_at <= {now} AND {sound}
        ORDER  BY run_at, id LIMIT $4::bigint)
       UNION ALL
       (SELECT id, run_at FROM belfry.jobs
        WHERE  status = 1 AND priority = $2 AND type = $3 AND tenant <> '' AND run_at <= {now} AND {sound}
        ORDER  BY run_at, id LIMIT $4)) d
ORDER  BY run_at, id
LIMIT  $4;
