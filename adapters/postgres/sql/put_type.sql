-- Make or replace the definition of a type, under lock_types. No row: it would be one more than are kept.
--   $1 clock offset  $2 type  $3 target or ''  $4 timeout  $5 max attempts  $6 waits  $7 most types
--   $8 expect within. Another than before begins anew; the same goes on  $9 expires after
WITH before AS MATERIALIZED (
    SELECT defined_at IS NOT NULL AS defined, defined_at IS NOT NULL OR delivered AS kept
    FROM   belfry.job_types
    WHERE  type = $2::text
), put AS (
    INSERT INTO belfry.job_types AS t (type, defined_at, updated_at, target, timeout, max_attempts, backoff, expect_within, expect_from, expires_after)
    SELECT $2, {now}, {now}, nullif($3::text, '')::json, nullif($4::bigint, 0), nullif($5::bigint, 0), nullif($6::bigint[], '{}'),
           nullif($8::bigint, 0), CASE WHEN $8 <> 0 THEN {now} END, nullif($9::bigint, 0)
    WHERE  EXISTS (SELECT FROM before WHERE kept)
       OR  (SELECT count(*) FROM belfry.job_types WHERE defined_at IS NOT NULL OR delivered) < $7::bigint
    ON CONFLICT (type) DO UPDATE
    SET    defined_at = coalesce(t.defined_at, excluded.defined_at), updated_at = excluded.updated_at, target = excluded.target,
           timeout = excluded.timeout, max_attempts = excluded.max_attempts, backoff = excluded.backoff,
           expect_within = excluded.expect_within, expires_after = excluded.expires_after,
           expect_from = CASE WHEN t.expect_within = excluded.expect_within THEN t.expect_from ELSE excluded.expect_from END
    RETURNING {definition}
)
SELECT put.*, NOT EXISTS (SELECT FROM before WHERE defined) FROM put;
