-- Make or replace the definition of a type.
--   ?1 type   ?2 now   ?3 target   ?4 timeout   ?5 max_attempts   ?6 backoff   ?7 expect within: another than before begins anew
--   ?8 expires after
INSERT INTO job_types (type, defined_at, updated_at, target, timeout, max_attempts, backoff, expect_within, expect_from, expires_after)
VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7, CASE WHEN ?7 > 0 THEN ?2 END, ?8)
ON CONFLICT (type) DO UPDATE
SET defined_at = COALESCE(defined_at, excluded.defined_at), updated_at = excluded.updated_at, target = excluded.target,
    timeout = excluded.timeout, max_attempts = excluded.max_attempts, backoff = excluded.backoff,
    expect_within = excluded.expect_within, expires_after = excluded.expires_after,
    expect_from = CASE WHEN expect_within = excluded.expect_within THEN expect_from ELSE excluded.expect_from END
