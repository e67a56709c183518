-- How many workers live, and for each type how many of them have a handler.
--   $1 clock offset  $2 most types
WITH alike AS MATERIALIZED (
    SELECT types_key, count(*) AS n FROM belfry.workers WHERE seen_at > {now} - interval '90 s' GROUP BY types_key
)
SELECT '', coalesce(sum(n), 0)::bigint FROM alike
UNION ALL
(SELECT u.type, sum(a.n)::bigint
 FROM   alike a
        CROSS JOIN LATERAL (SELECT types FROM belfry.workers w WHERE w.types_key = a.types_key AND seen_at > {now} - interval '90 s' LIMIT 1) w
        CROSS JOIN LATERAL unnest(w.types) AS u (type)
 GROUP  BY u.type
 ORDER  BY u.type
 LIMIT  $2::bigint);
