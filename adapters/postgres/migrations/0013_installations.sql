-- What tells this database's jobs from those of any other database, and from jobs that this one had before it was put back
-- to an earlier state.
-- belfry:oldest 8

CREATE TABLE belfry.installations (
    first_id bigint PRIMARY KEY, -- jobs from this id on are this installation's, up to the next one
    id       text COLLATE "C" NOT NULL,
    place    text COLLATE "C" NOT NULL, -- the database in which it was begun
    begun_at timestamptz NOT NULL
);

-- What differs wherever this database's rows are restored, promoted or copied to: the cluster and its timeline, the database
-- and the table. A role may be kept from looking at the cluster; then the others must do.
CREATE FUNCTION belfry.place() RETURNS text LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cluster text := '';
BEGIN
    BEGIN
        SELECT s.system_identifier || '/' || c.timeline_id INTO cluster FROM pg_control_system() s, pg_control_checkpoint() c;
    EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
        cluster := '';
    END;
    RETURN cluster || '/' || (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) || '/' || 'belfry.installations'::regclass::oid;
END
$$;

-- All installations. If the last one was begun elsewhere, jobs get the fresh one from now on. It runs as its owner, so that
-- every role sees the same place.
CREATE FUNCTION belfry.installations_here(fresh text, at timestamptz) RETURNS TABLE (first_id bigint, id text, begun_at timestamptz) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    here text COLLATE "C" := belfry.place();
    last text COLLATE "C";
BEGIN
    SELECT i.place INTO last FROM belfry.installations i ORDER BY i.first_id DESC LIMIT 1;
    IF last IS DISTINCT FROM here THEN
        PERFORM pg_advisory_xact_lock(x'62656c66'::integer, x'706c6163'::integer);
        SELECT i.place INTO last FROM belfry.installations i ORDER BY i.first_id DESC LIMIT 1;
        IF last IS DISTINCT FROM here THEN
            INSERT INTO belfry.installations (first_id, id, place, begun_at)
            VALUES (CASE WHEN last IS NULL THEN 0 ELSE nextval('belfry.job_ids') END, installations_here.fresh, here, installations_here.at);
        END IF;
    END IF;
    RETURN QUERY SELECT i.first_id, i.id, i.begun_at FROM belfry.installations i ORDER BY i.first_id;
END
$$;

REVOKE ALL ON FUNCTION belfry.place(), belfry.installations_here(text, timestamptz) FROM PUBLIC;

DO $$
DECLARE
    program regrole;
BEGIN
    FOR program IN -- those that work on the tables
        SELECT DISTINCT a.grantee FROM pg_class c, aclexplode(c.relacl) a
        WHERE  c.oid = 'belfry.jobs'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> 0 AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION belfry.installations_here(text, timestamptz) TO %s', program);
    END LOOP;
END
$$;
