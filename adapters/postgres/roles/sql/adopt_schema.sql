-- Hand the schema over to the owner, where another role made it: it was restored, or migrated without roles.
--   {owner} the owner's name
DO $$
DECLARE statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER SCHEMA belfry OWNER TO %I', '{owner}') FROM pg_namespace
        WHERE  nspname = 'belfry' AND nspowner <> '{owner}'::regrole
        UNION ALL
        SELECT format('ALTER %s %s OWNER TO %I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass, '{owner}')
        FROM   pg_class c
        WHERE  c.relnamespace = to_regnamespace('belfry') AND c.relkind IN ('r', 'p', 'S') AND c.relowner <> '{owner}'::regrole
        AND    NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') AND c.relkind = 'S')
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO %I', p.oid::regprocedure, '{owner}') FROM pg_proc p
        WHERE  p.pronamespace = to_regnamespace('belfry') AND p.proowner <> '{owner}'::regrole
        UNION ALL
        SELECT format('ALTER TYPE %s OWNER TO %I', t.oid::regtype, '{owner}')
        FROM   pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
        WHERE  t.typnamespace = to_regnamespace('belfry') AND t.typowner <> '{owner}'::regrole
        AND    (t.typtype IN ('e', 'd') OR c.relkind = 'c')
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
