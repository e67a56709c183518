-- Make or replace the definition of a type.
--   ?1 type   ?2 now   ?3 target   ?4 timeout   ?5 max_attempts   ?6 backoff
INSERT INTO job_types (type, defined_at, updated_at, target, timeout, max_attempts, backoff) VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (type) DO UPDATE
SET defined_at = COALESCE(defined_at, excluded.defined_at), updated_at = excluded.updated_at, target = excluded.target,
    timeout = excluded.timeout, max_attempts = excluded.max_attempts, backoff = excluded.backoff
