-- How many alerts are open, by kind, of up to a cap.
--   $1 cap
SELECT kind, count(*)
FROM  (SELECT kind FROM belfry.alerts WHERE cleared_at IS NULL LIMIT $1::bigint) a
GROUP  BY kind
ORDER  BY kind;
