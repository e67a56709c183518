-- Raise an alert for each group of failures that was noted, or count them to the one that is open. Groups beyond those
-- that have an alert of their own share one for their type, and beyond those one for all. The subjects raised come back.
--   $1 clock offset  $2 kind  $3 most notes  $4 most open alerts of one type  $5 most in all  $6 detail  $7 detail of shared ones
WITH taken AS MATERIALIZED (
    DELETE FROM belfry.failure_notes
    WHERE  id = ANY (ARRAY(SELECT id FROM belfry.failure_notes ORDER BY id LIMIT $3::bigint FOR UPDATE SKIP LOCKED))
    RETURNING type, error_group, count, newest, at
), groups AS MATERIALIZED (
    SELECT type, error_group, {sum count} AS n, max(newest) AS newest, max(at) AS last FROM taken GROUP BY type, error_group
), open AS MATERIALIZED (
    SELECT subject, regexp_replace(subject, '/[^/]*$', '') AS type FROM belfry.alerts WHERE kind = $2::text AND tenant = '' AND cleared_at IS NULL
), matched AS MATERIALIZED (
    SELECT g.*, EXISTS (SELECT FROM open o WHERE o.subject = g.type || '/' || g.error_group) AS known,
           EXISTS (SELECT FROM open o WHERE o.subject = g.type || '/other') AS shared
    FROM   groups g
), typed AS MATERIALIZED ( -- only those that would be new take room
    SELECT k.*, known OR row_number() OVER (PARTITION BY k.type, known ORDER BY k.newest) +
           (SELECT count(*) FROM open o WHERE o.type = k.type AND o.subject <> k.type || '/other') <= $4::bigint AS fits
    FROM   matched k
), ranked AS MATERIALIZED (
    SELECT t.*, known OR fits AND row_number() OVER (PARTITION BY known, fits ORDER BY t.newest) + (SELECT count(*) FROM open) <= $5::bigint AS own
    FROM   typed t
), placed AS MATERIALIZED (
    SELECT r.*, CASE WHEN own THEN type || '/' || error_group
                     WHEN shared OR dense_rank() OVER (PARTITION BY own, shared ORDER BY type) + (SELECT count(*) FROM open) +
                                    (SELECT count(*) FROM ranked f WHERE f.own AND NOT f.known) <= $5 THEN type || '/other'
                     ELSE 'other' END AS subject
    FROM   ranked r
), summed AS MATERIALIZED (
    SELECT subject, subject <> min(type || '/' || error_group) AS shared, {sum n} AS n, max(newest) AS newest, max(last) AS last
    FROM   placed GROUP BY subject
), raised AS (
    INSERT INTO belfry.alerts AS a (kind, tenant, subject, detail, count, raised_at, last_at)
    SELECT $2, '', subject,
           CASE WHEN shared THEN $7::text ELSE $6::text END ||
           coalesce((SELECT belfry.last_error(d.errors) FROM belfry.dead_letters d WHERE d.id = s.newest), ''), n, {now}, last
    FROM   summed s
    ORDER  BY subject
    ON CONFLICT (kind, tenant, subject) WHERE cleared_at IS NULL
    DO UPDATE SET count = least(a.count::numeric + excluded.count, 9223372036854775807)::bigint, last_at = greatest(a.last_at, excluded.last_at)
    RETURNING subject, a.count
)
SELECT r.subject FROM raised r JOIN summed s USING (subject) WHERE r.count = s.n;
