-- How many rows of each kind are set apart.
--   $1 clock offset  $2 a time that is over for so long was in vain
SELECT kind, count(*) FROM belfry.set_apart WHERE retry_at + $2::interval >= {now} GROUP BY kind ORDER BY kind;
