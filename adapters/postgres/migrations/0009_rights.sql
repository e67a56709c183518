-- The functions that Belfry calls itself are for its owner and for roles that work on its tables, and for nobody else who
-- may use the schema. Days and months are made alike whatever the session's settings are.
-- belfry:oldest 8

DO $$
DECLARE
    inner_function regprocedure;
    program regrole;
BEGIN
    FOR inner_function IN
        SELECT p.oid FROM pg_proc p
        WHERE  p.pronamespace = 'belfry'::regnamespace
          AND  p.proname IN ('add_up', 'make_history_day', 'start_again', 'error_group', 'make_ledger_month', 'drop_ledger_months', 'last_error')
    LOOP
        FOR program IN
            SELECT DISTINCT a.grantee FROM pg_class c, aclexplode(c.relacl) a
            WHERE  c.oid = 'belfry.jobs'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> 0 AND a.grantee <> c.relowner
        LOOP
            EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', inner_function, program);
        END LOOP;
        EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', inner_function);
    END LOOP;
END
$$;

ALTER FUNCTION belfry.make_history_day(date) SET timezone = 'UTC';
ALTER FUNCTION belfry.make_history_day(date) SET datestyle = 'ISO';
ALTER FUNCTION belfry.make_history_day(date) SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION belfry.make_ledger_month(date) SET timezone = 'UTC';
ALTER FUNCTION belfry.make_ledger_month(date) SET datestyle = 'ISO';
ALTER FUNCTION belfry.make_ledger_month(date) SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION belfry.drop_ledger_months(timestamptz) SET timezone = 'UTC';
ALTER FUNCTION belfry.drop_ledger_months(timestamptz) SET datestyle = 'ISO';
ALTER FUNCTION belfry.drop_ledger_months(timestamptz) SET search_path = pg_catalog, pg_temp;
