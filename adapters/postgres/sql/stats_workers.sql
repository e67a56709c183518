-- How many workers live, with their slots and those in use, and for each type how many of them have a handler.
--   $1 clock offset  $2 most types
WITH alike AS MATERIALIZED (
    SELECT types_key, count(*) AS n, sum(slots) AS slots, sum(busy) AS busy, sum(delivery_slots) AS delivery_slots, sum(deliveries) AS deliveries
    FROM   belfry.workers WHERE seen_at > {now} - interval '90 s' GROUP BY types_key
)
SELECT '', coalesce(sum(n), 0)::bigint, coalesce(sum(slots), 0)::bigint, coalesce(sum(busy), 0)::bigint,
       coalesce(sum(delivery_slots), 0)::bigint, coalesce(sum(deliveries), 0)::bigint FROM alike
UNION ALL
(SELECT u.type, sum(a.n)::bigint, 0, 0, 0, 0
 FROM   alike a
        CROSS JOIN LATERAL (SELECT types FROM belfry.workers w WHERE w.types_key = a.types_key AND seen_at > {now} - interval '90 s' LIMIT 1) w
        CROSS JOIN LATERAL unnest(w.types) AS u (type)
 GROUP  BY u.type
 ORDER  BY u.type
 LIMIT  $2::bigint);
