-- Hold the types from which a success is expected against the minutes in which one was done: note the newest, raise
-- the alerts of those that are late and clear those of types that recovered. A type that is being changed is passed over.
--   $1 clock offset  $2 kind of the alerts  $3 all types, or $4 these
WITH fresh AS MATERIALIZED (
    SELECT type, max(minute) AS minute FROM belfry.rollups WHERE shard <> -1 AND done > 0 GROUP BY type
), seen AS MATERIALIZED (
    SELECT t.type, t.expect_within, t.expect_from, a.id AS alert,
           greatest(t.expect_from, f.minute + interval '1 min', m.minute + interval '1 min') AS since
    FROM   belfry.job_types t
    LEFT   JOIN fresh f ON f.type = t.type
    LEFT   JOIN LATERAL (
        SELECT r.minute
        FROM   belfry.rollups r
        WHERE  r.shard = -1 AND r.type = t.type AND r.minute > t.expect_from - interval '1 min' AND r.done > 0
        ORDER  BY r.minute DESC
        LIMIT  1
    ) m ON true
    LEFT   JOIN belfry.alerts a ON a.kind = $2::text AND a.tenant = '' AND a.subject = t.type AND a.cleared_at IS NULL
    WHERE  t.expect_within IS NOT NULL AND ($3::boolean OR t.type = ANY ($4::text[]))
), judged AS MATERIALIZED (
    SELECT *, since + expect_within * interval '1 us' <= {now} AS late FROM seen
), held AS MATERIALIZED (
    SELECT t.type, j.since, j.late, j.alert
    FROM   belfry.job_types t
    JOIN   judged j ON j.type = t.type
    WHERE  (j.since > j.expect_from OR j.late <> (j.alert IS NOT NULL))
      AND  t.expect_within = j.expect_within AND t.expect_from = j.expect_from
    ORDER  BY t.type
    FOR    NO KEY UPDATE OF t SKIP LOCKED
), moved AS (
    UPDATE belfry.job_types t SET expect_from = h.since FROM held h WHERE t.type = h.type AND h.since > t.expect_from
), raised AS (
    INSERT INTO belfry.alerts (kind, tenant, subject, detail, raised_at)
    SELECT $2, '', type, 'no job of this type was done since ' || to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), {now}
    FROM   held
    WHERE  late AND alert IS NULL
    ORDER  BY type
    ON CONFLICT (kind, tenant, subject) WHERE cleared_at IS NULL DO NOTHING
)
UPDATE belfry.alerts a SET cleared_at = {now} FROM held h WHERE NOT h.late AND a.id = h.alert AND a.cleared_at IS NULL;
