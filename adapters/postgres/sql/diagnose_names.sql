-- What doctor wants to know of names: whether this session's role is named like the schema, so that what it creates without
-- naming a schema lands in it, and which relations in the schema are none of Belfry's. Partitions of Belfry's are its own.
--   $1 names of Belfry's relations
SELECT current_user = 'belfry' AND current_schema() IS NOT DISTINCT FROM 'belfry',
       coalesce((SELECT array_agg(c.relname::text ORDER BY c.relname)
                 FROM   pg_class c
                 WHERE  c.relnamespace = to_regnamespace('belfry') AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname <> ALL ($1::text[])
                   AND  NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
                                    WHERE i.inhrelid = c.oid AND p.relnamespace = c.relnamespace AND p.relname = ANY ($1::text[]))), '{}');
