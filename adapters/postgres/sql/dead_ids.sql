-- Dead letters that match, the lowest id first: nothing of them is read but their ids and types.
--   $1 to $8 as in redrive
SELECT id, type FROM belfry.dead_letters WHERE {dead_rows} ORDER BY {dead_order} LIMIT $2::bigint;
