-- Clear the alert about a type whose definition was changed or removed, unless a success is still overdue.
--   $1 clock offset  $2 kind of the alert  $3 type
UPDATE belfry.alerts
SET    cleared_at = {now}
WHERE  kind = $2::text AND tenant = '' AND subject = $3::text AND cleared_at IS NULL
  AND  NOT EXISTS (SELECT FROM belfry.job_types t WHERE t.type = $3 AND t.expect_from + t.expect_within * interval '1 us' <= {now});
