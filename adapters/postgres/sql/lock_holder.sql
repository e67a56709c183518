-- The process whose open transaction has held a lock on a table of the schema for longest.
--   $1 processes that do not count
SELECT l.pid, coalesce(a.application_name, ''), coalesce(a.state, 'state not visible'), c.relname,
       coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::float8
FROM   pg_locks l JOIN pg_class c ON c.oid = l.relation
LEFT   JOIN pg_stat_activity a ON a.pid = l.pid
WHERE  l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.granted
  AND  c.relnamespace = 'belfry'::regnamespace AND c.relkind IN ('r', 'p') AND l.pid <> ALL ($1::integer[])
ORDER  BY a.xact_start NULLS LAST
LIMIT  1;
