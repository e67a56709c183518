-- The live job that holds the dedupe key of a dead letter.
--   $1 id of the dead letter
SELECT j.id
FROM   belfry.dead_letters d JOIN belfry.jobs j ON j.tenant = d.tenant AND j.dedupe_key = d.dedupe_key AND j.dedupe_key IS NOT NULL
WHERE  d.id = $1::bigint;
