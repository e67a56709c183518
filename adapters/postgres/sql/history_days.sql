-- The store's clock and the history partitions: attached, half detached, or detached and not dropped yet.
--   $1 clock offset
SELECT {now}, c.relname::text, i.inhrelid IS NOT NULL, coalesce(i.inhdetachpending, false)
FROM   (SELECT) one
       LEFT JOIN pg_class c ON c.relnamespace = 'belfry'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^job_history_[0-9]{8}$'
       LEFT JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = 'belfry.job_history'::regclass;
