-- Renew the holder's bucket leases that have run for a third of their length, and take those that have run out or
-- were released. The token rises with each taking. One that its holder did not release is taken unclean.
-- One that runs longer than any that is written is nobody's: somebody damaged it. Whoever acts under these leases has
-- them locked: they are waited for.
--   $1 clock offset  $2 holder  $3 length  $4 of all buckets, or $5 of these
WITH mine AS MATERIALIZED (
    SELECT bucket AS b, holder = $2::text AND NOT clean AND expires_at > clock_timestamp() + $1::interval AS kept
    FROM   belfry.scheduler_leases
    WHERE  (clean OR expires_at <= clock_timestamp() + $1::interval OR expires_at > {never} + $3
        OR  holder = $2 AND expires_at <= clock_timestamp() + $1::interval + $3::interval * 0.667)
      AND  ($4::boolean OR bucket = ANY ($5::bigint[]))
    ORDER  BY bucket
    FOR    UPDATE
)
UPDATE belfry.scheduler_leases
SET    holder = $2, expires_at = clock_timestamp() + $1::interval + $3, clean = false,
       token = CASE WHEN kept THEN token ELSE least(token, 9223372036854775806) + 1 END,
       unclean = unclean OR NOT kept AND NOT clean
FROM   mine
WHERE  bucket = b;
