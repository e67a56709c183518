-- Dead letters by type and error group, the largest group first, with the errors of the newest of each: of those that
-- match among the newest $2 that the way leads to.
--   $1 to $8 as in redrive, $2 rows looked at  $9 most groups
SELECT g.type, g.error_group, g.n, g.first, g.last, d.errors
FROM  (SELECT w.type, w.error_group, count(*) AS n, min(w.finished_at) AS first, max(w.finished_at) AS last, max(w.id) AS newest
       FROM  (SELECT id, type, tenant, error_group, finished_at
              FROM   belfry.dead_letters
              WHERE  {dead_lead}
              ORDER  BY {dead_order} DESC
              LIMIT  $2::bigint) w
       WHERE  {dead_rest}
       GROUP  BY w.type, w.error_group
       ORDER  BY n DESC, newest DESC
       LIMIT  $9::bigint) g JOIN belfry.dead_letters d ON d.id = g.newest
ORDER  BY g.n DESC, g.newest DESC;
