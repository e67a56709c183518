-- What workers handle now that receive from queues: types for which a live one has a handler (0), whether one delivers (1), types that are marked
-- as unhandled (2), types that a program of before announced (3).
--   $1 clock offset
WITH {consumers}
SELECT 0, type FROM live
UNION ALL
SELECT 1, '' FROM delivering WHERE yes
UNION ALL
SELECT 2, type FROM belfry.job_types WHERE (unhandled_until IS NOT NULL OR announced_at IS NOT NULL) AND unhandled_until > {now}
UNION ALL
SELECT 3, type FROM belfry.job_types WHERE (unhandled_until IS NOT NULL OR announced_at IS NOT NULL) AND announced_at IS NOT NULL;
