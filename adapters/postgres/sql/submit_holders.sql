-- The live jobs that hold dedupe keys, after submit_keyed in the same transaction: what it wrote and what was
-- there before. A key without a job came free between the two statements: all is rolled back, to begin again.
--   $1 tenants  $2 dedupe keys  $3 with payloads of any size (core.MaxBriefBytes)
SELECT j.*, g.item, CASE WHEN j.id IS NULL THEN belfry.start_again() END
FROM   unnest($1::text[], $2::text[]) WITH ORDINALITY AS g (tenant, dedupe_key, item)
LEFT   JOIN LATERAL (
    SELECT {holder}
    FROM   belfry.jobs
    WHERE  tenant = g.tenant AND dedupe_key = g.dedupe_key AND dedupe_key IS NOT NULL
    LIMIT  1
) j ON true;
