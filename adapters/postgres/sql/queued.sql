-- Queued jobs, those first whose dispatch lease passes first.
--   $1 clock offset  $2 most
SELECT id FROM belfry.jobs WHERE status = 2 AND {sound} ORDER BY reap_at LIMIT $2::bigint;
