-- Clear alerts about failures of which no dead letter is left, or whose last one is long ago.
--   $1 clock offset  $2 kind  $3 how long
UPDATE belfry.alerts a
SET    cleared_at = {now}
WHERE  kind = $2::text AND tenant = '' AND cleared_at IS NULL
  AND  (last_at <= {now} - $3::interval OR NOT CASE
           WHEN subject = 'other' THEN EXISTS (SELECT FROM belfry.dead_letters)
           WHEN subject LIKE '%/other' THEN EXISTS (SELECT FROM belfry.dead_letters d WHERE d.type = left(a.subject, -6))
           ELSE EXISTS (SELECT FROM belfry.dead_letters d WHERE d.error_group = right(a.subject, 16)) END);
