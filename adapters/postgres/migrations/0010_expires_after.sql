-- How many microseconds after they may first start the jobs of a type expire; null means never.
-- belfry:oldest 8

ALTER TABLE belfry.job_types ADD COLUMN IF NOT EXISTS expires_after bigint;

-- belfry:step

-- As before, with what the type says of jobs that name no expires_at.
CREATE OR REPLACE FUNCTION belfry.submit_job(type text, payload json DEFAULT '{}', run_at timestamptz DEFAULT NULL, delay interval DEFAULT NULL,
    priority text DEFAULT NULL, tenant text DEFAULT NULL, dedupe_key text DEFAULT NULL, max_attempts integer DEFAULT NULL,
    timeout interval DEFAULT NULL, expires_at timestamptz DEFAULT NULL, backoff interval[] DEFAULT NULL, target json DEFAULT NULL,
    tags text[] DEFAULT NULL, traceparent text DEFAULT NULL) RETURNS belfry.submitted LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    job    belfry.submitted;
    the_type   text COLLATE "C" := submit_job.type;
    the_tenant  text COLLATE "C" := coalesce(submit_job.tenant, '');
    the_key    text COLLATE "C" := submit_job.dedupe_key;
    faults text[] := belfry.job_faults(submit_job.type, submit_job.payload, submit_job.run_at, submit_job.delay, submit_job.priority, submit_job.tenant,
        submit_job.dedupe_key, submit_job.max_attempts, submit_job.timeout, submit_job.expires_at, submit_job.backoff, submit_job.target,
        submit_job.tags, submit_job.traceparent);
BEGIN
    IF faults <> '{}' THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = array_to_string(faults, '; '), COLUMN = split_part(faults[1] COLLATE "C", ':', 1);
    END IF;
    FOR round IN 1 .. 10 LOOP
        INSERT INTO belfry.jobs AS j (id, type, payload, priority, tenant, run_at, created_at, max_attempts, timeout, expires_at, backoff,
            target, tags, trace, lease_token, dedupe_key)
        SELECT nextval('belfry.job_ids'), the_type, coalesce(submit_job.payload, '{}'),
            CASE submit_job.priority COLLATE "C" WHEN 'critical' THEN 1 WHEN 'bulk' THEN 3 ELSE 2 END, the_tenant,
            coalesce(submit_job.run_at, now() + belfry.microseconds(submit_job.delay)::float8 * interval '1 microsecond', now()), now(),
            coalesce(submit_job.max_attempts, d.max_attempts, 5), coalesce(belfry.microseconds(submit_job.timeout)::bigint, d.timeout),
            coalesce(submit_job.expires_at, coalesce(submit_job.run_at, now() + belfry.microseconds(submit_job.delay)::float8 * interval '1 microsecond', now())
                + d.expires_after * interval '1 microsecond'),
            CASE WHEN submit_job.backoff IS NULL THEN d.backoff
                ELSE ARRAY(SELECT belfry.microseconds(u.wait)::bigint FROM unnest(submit_job.backoff) WITH ORDINALITY u (wait, n) ORDER BY u.n) END,
            submit_job.target, CASE WHEN submit_job.tags <> '{}' THEN ARRAY(SELECT u.tag FROM unnest(submit_job.tags) WITH ORDINALITY u (tag, n) ORDER BY u.n) END,
            nullif(submit_job.traceparent COLLATE "C", ''), 1, the_key
        FROM   (SELECT) one LEFT JOIN belfry.job_types d ON d.type = the_type
        ON CONFLICT (tenant, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
        RETURNING j.id, false, j.run_at, j.created_at INTO job;
        IF FOUND THEN
            IF submit_job.target IS NOT NULL THEN
                PERFORM belfry.mark_delivered(the_type);
            END IF;
            RETURN job;
        END IF;
        SELECT j.id, true, j.run_at, j.created_at INTO job FROM belfry.jobs j WHERE j.tenant = the_tenant AND j.dedupe_key = the_key AND j.dedupe_key IS NOT NULL;
        IF FOUND THEN
            RETURN job;
        END IF;
    END LOOP;
    PERFORM belfry.start_again();
END
$$;
