-- Forget workers that have not been seen for long: functions after one time, others after another.
--   $1 clock offset  $2 functions  $3 others
DELETE FROM belfry.workers WHERE seen_at < {now} - CASE WHEN function THEN $2::interval ELSE $3::interval END;
