-- Schedules by tenant and name.
--   $1 tenant or null  $2 type or ''  $3 paused, or null  $4 after this tenant  $5 and name  $6 most
SELECT {listed_schedule}
FROM   belfry.schedules s
WHERE  (s.tenant, s.name) > ($4::text, $5::text) AND ($1::text IS NULL OR s.tenant = $1) AND ($2::text = '' OR s.type = $2)
  AND  ($3::boolean IS NULL OR s.paused = $3)
ORDER  BY s.tenant, s.name
LIMIT  $6::bigint;
