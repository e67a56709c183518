-- The marks of types go that a worker handles, and what programs of before announced of them.
--   ?1 types as JSON   ?2 whether it delivers, too
UPDATE job_types SET unhandled_until = 0, unhandled_wait = 0, announced_at = NULL
WHERE (unhandled_until > 0 OR announced_at IS NOT NULL)
  AND (type IN (SELECT value FROM json_each(?1)) OR ?2 AND (target IS NOT NULL OR delivered = 1))
