-- A process handles the type.
--   ?1 type   ?2 now
INSERT INTO job_types (type, announced_at) VALUES (?1, ?2)
ON CONFLICT (type) DO UPDATE SET announced_at = excluded.announced_at, unhandled_until = 0, unhandled_wait = 0
