-- Keep answers under idempotency keys, in the place of those that are past their time. Where another answer stands all is
-- rolled back, to begin again.
--   $1 clock offset  $2 holders  $3 keys  $4 hashes  $5 statuses  $6 answers  $7 how long each is kept
WITH kept AS (
    INSERT INTO belfry.idempotency_keys AS k (holder, key, hash, status, answer, expires_at)
    SELECT holder, key, hash, status, answer, {now} + keep
    FROM   unnest($2::text[], $3::text[], $4::bytea[], $5::bigint[], $6::bytea[], $7::interval[]) AS g (holder, key, hash, status, answer, keep)
    ORDER  BY holder COLLATE "C", key COLLATE "C"
    ON CONFLICT (holder, key) DO UPDATE
    SET    hash = excluded.hash, status = excluded.status, answer = excluded.answer, expires_at = excluded.expires_at
    WHERE  k.expires_at <= {now}
    RETURNING k.holder
)
SELECT CASE WHEN count(*) < cardinality($2) THEN belfry.start_again() END FROM kept;
