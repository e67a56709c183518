-- A process handles these types: their marks go. One announced lately and not marked is not written again.
--   $1 clock offset  $2 types
INSERT INTO belfry.job_types AS t (type, announced_at)
SELECT DISTINCT g.type COLLATE "C" AS type, {now} FROM unnest($2::text[]) AS g (type) ORDER BY 1
ON CONFLICT (type) DO UPDATE
SET    announced_at = excluded.announced_at, unhandled_until = NULL, unhandled_wait = '0'
WHERE  t.unhandled_until IS NOT NULL OR t.announced_at IS NULL OR t.announced_at < {now} - interval '1 min';
