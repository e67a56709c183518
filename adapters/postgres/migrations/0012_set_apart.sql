-- Rows that raise an error where others are worked on. They are set apart, so that what is done to many at once passes over
-- them until retry_at; row_id and name say which they are. One that is not renewed by then was mended, or is gone.
-- belfry:oldest 8

CREATE TABLE belfry.set_apart (
    kind     text COLLATE "C" NOT NULL,            -- job, schedule, dead_letter, alert …
    row_id   bigint NOT NULL,
    name     text COLLATE "C" NOT NULL DEFAULT '', -- of what has no number
    about    text COLLATE "C" NOT NULL DEFAULT '', -- the type of a job, the name of a schedule
    act      text COLLATE "C" NOT NULL,            -- what was being done
    error    text NOT NULL,
    tries    integer NOT NULL DEFAULT 1,
    first_at timestamptz NOT NULL,
    retry_at timestamptz NOT NULL,
    told     boolean NOT NULL DEFAULT false,       -- in a log
    PRIMARY KEY (kind, row_id, name)
);
CREATE INDEX set_apart_untold ON belfry.set_apart (first_at) WHERE NOT told;
CREATE INDEX set_apart_over ON belfry.set_apart (retry_at);

-- Which of these jobs raise an error when they are dispatched, started or beaten for, found by doing it to each alone and
-- undoing it. Rows that others have locked are passed over.
CREATE FUNCTION belfry.row_faults(ids bigint[], act text) RETURNS TABLE (id bigint, type text, code text, error text) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one bigint;
BEGIN
    SET CONSTRAINTS ALL IMMEDIATE;
    FOREACH one IN ARRAY ids LOOP
        id := one;
        type := '';
        BEGIN
            SELECT j.type INTO type FROM belfry.jobs j WHERE j.id = one;
            PERFORM FROM belfry.jobs j WHERE j.id = one FOR UPDATE SKIP LOCKED;
            IF act = 'start' THEN
                UPDATE belfry.jobs j
                SET    status = 3, attempts = least(j.attempts, 2147483646) + 1, lease_token = least(j.lease_token, 9223372036854775806) + 1,
                       claim_id = 1, worker_id = '', started_at = now(), lease_until = now(), reap_at = now()
                WHERE  j.id = one AND FOUND;
                PERFORM octet_length(j::text) FROM belfry.jobs j WHERE j.id = one; -- reads every value
            ELSIF act = 'dispatch' THEN
                UPDATE belfry.jobs j SET status = 2, dispatches = 1, lease_until = now(), reap_at = now() WHERE j.id = one AND FOUND;
            ELSE
                UPDATE belfry.jobs j SET lease_until = now() WHERE j.id = one AND FOUND;
            END IF;
            RAISE EXCEPTION 'sound' USING ERRCODE = 'BF000';
        EXCEPTION
            WHEN SQLSTATE 'BF000' THEN
                NULL;
            WHEN OTHERS THEN
                code := SQLSTATE;
                error := SQLERRM;
                RETURN NEXT;
        END;
    END LOOP;
END
$$;

DO $$
DECLARE
    program regrole;
BEGIN
    FOR program IN
        SELECT DISTINCT a.grantee FROM pg_class c, aclexplode(c.relacl) a
        WHERE  c.oid = 'belfry.jobs'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> 0 AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON belfry.set_apart TO %s', program);
        EXECUTE format('GRANT EXECUTE ON FUNCTION belfry.row_faults TO %s', program);
    END LOOP;
    REVOKE ALL ON FUNCTION belfry.row_faults FROM PUBLIC;
END
$$;
