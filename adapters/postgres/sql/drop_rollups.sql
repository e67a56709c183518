-- Delete minutes that no chart asks for any more; the totals keep their counts.
--   $1 clock offset  $2 retention  $3 most  $4 behind so many
DELETE FROM belfry.rollups
WHERE  ctid = ANY (ARRAY(SELECT ctid FROM belfry.rollups WHERE shard = -1 AND minute < {now} - $2::interval
                         ORDER BY minute LIMIT $3::bigint OFFSET $4::bigint FOR UPDATE SKIP LOCKED));
