-- The running rows of one claim.
--   $1 claim id
SELECT {live} FROM belfry.jobs WHERE status = 3 AND claim_id = $1::bigint;
