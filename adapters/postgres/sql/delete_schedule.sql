-- Delete a schedule and its ledger, under lock_schedule, if its version is the one given (0: any), and clear the alerts that it is overdue or unreadable. The
-- version it had comes back, and whether it went.
--   $1 clock offset  $2 tenant  $3 name  $4 version
WITH found AS MATERIALIZED (
    SELECT id, version FROM belfry.schedules WHERE tenant = $2::text AND name = $3::text FOR UPDATE
), gone AS (
    DELETE FROM belfry.schedules s USING found f WHERE s.id = f.id AND ($4::bigint = 0 OR f.version = $4) RETURNING s.id
), ledger AS (
    DELETE FROM belfry.occurrences o USING gone g WHERE o.schedule_id = g.id
), cleared AS (
    UPDATE belfry.alerts a SET cleared_at = {now} FROM gone
    WHERE  a.kind IN ('schedule_missed', 'schedule_unreadable') AND a.tenant = $2 AND a.subject = $3 AND a.cleared_at IS NULL
)
SELECT f.version, EXISTS (SELECT FROM gone) FROM found f;
