-- How many rows of each kind are set apart.
--   $1 clock offset
SELECT kind, count(*) FROM belfry.set_apart WHERE retry_at + {apart_over} >= {now} GROUP BY kind ORDER BY kind;
