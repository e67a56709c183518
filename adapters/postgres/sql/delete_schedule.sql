-- Delete a schedule and its ledger, if its version is the one given (0: any). The version it had comes back, and whether it went.
--   $1 tenant  $2 name  $3 version
WITH found AS MATERIALIZED (
    SELECT id, version FROM belfry.schedules WHERE tenant = $1::text AND name = $2::text FOR UPDATE
), gone AS (
    DELETE FROM belfry.schedules s USING found f WHERE s.id = f.id AND ($3::bigint = 0 OR f.version = $3) RETURNING s.id
), ledger AS (
    DELETE FROM belfry.occurrences o USING gone g WHERE o.schedule_id = g.id
)
SELECT f.version, EXISTS (SELECT FROM gone) FROM found f;
