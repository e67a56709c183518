-- A tenant that is given but empty is refused, as the API does: the variable that should have held it was not set. Go programs
-- of the version before send an empty text for a tenant, and for a traceparent, that are not there: together they pass.
-- belfry:oldest 8

-- Every rule that a job breaks, as "field: rule", in the order of core.CheckNewJob.
CREATE OR REPLACE FUNCTION belfry.job_faults(type text, payload json, run_at timestamptz, delay interval, priority text, tenant text,
    dedupe_key text, max_attempts integer, timeout interval, expires_at timestamptz, backoff interval[], target json, tags text[],
    traceparent text) RETURNS text[] LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    doc    text COLLATE "C" := payload::text;
    name   text COLLATE "C" := type;
    class  text COLLATE "C" := priority;
    trace  text COLLATE "C" := traceparent;
    fault  text;
    faults text[] := '{}';
BEGIN
    IF name IS NULL THEN
        faults := array_append(faults, 'type: is required');
    ELSIF octet_length(name) > 200 OR name !~ '^[A-Za-z][A-Za-z0-9_:-]*([./][A-Za-z0-9_:-]+)*$' THEN
        faults := array_append(faults, 'type: must be 1 to 200 of the characters A-Z a-z 0-9 _ - : . /, begin with a letter, '
            'and have a letter, digit, _ - or : on both sides of each . and /');
    ELSIF lower(name) LIKE 'belfry.%' THEN
        faults := array_append(faults, 'type: must not begin with belfry.: Belfry keeps such names for itself');
    END IF;
    IF octet_length(doc) > 1048576 THEN
        faults := array_append(faults, format('payload: is %s bytes, at most 1048576 are kept', octet_length(doc)));
    ELSIF NOT belfry.json_is_flat(doc) THEN
        faults := array_append(faults, format('payload: nests arrays and objects %s deep, at most 100 are kept', belfry.json_depth(doc)));
    ELSIF strpos(doc, E'\\u') > 0 THEN
        fault := belfry.json_fault(doc);
        IF fault IS NOT NULL THEN
            faults := array_append(faults, 'payload: ' || fault);
        END IF;
    END IF;
    IF class NOT IN ('critical', 'default', 'bulk') THEN
        faults := array_append(faults, 'priority: must be critical, default or bulk');
    END IF;
    IF tenant IS NOT NULL THEN
        fault := CASE WHEN octet_length(tenant) = 0 AND traceparent IS DISTINCT FROM '' THEN 'must not be empty; leave the field out instead' ELSE belfry.text_fault(tenant, 255) END;
        IF fault IS NOT NULL THEN
            faults := array_append(faults, 'tenant: ' || fault);
        END IF;
    END IF;
    IF dedupe_key IS NOT NULL THEN
        fault := CASE WHEN octet_length(dedupe_key) = 0 THEN 'must not be empty; leave the field out instead' ELSE belfry.text_fault(dedupe_key, 512) END;
        IF fault IS NOT NULL THEN
            faults := array_append(faults, 'dedupe_key: ' || fault);
        END IF;
        IF lower(dedupe_key COLLATE "C") LIKE 'belfry.%' THEN
            faults := array_append(faults, 'dedupe_key: must not begin with belfry.: Belfry keeps such names for itself');
        END IF;
    END IF;
    IF run_at IS NOT NULL OR delay IS NOT NULL OR expires_at IS NOT NULL THEN
        faults := faults || belfry.time_faults(run_at, delay, expires_at);
    END IF;
    IF max_attempts NOT BETWEEN 1 AND 100 THEN
        faults := array_append(faults, 'max_attempts: must be a whole number from 1 to 100');
    END IF;
    IF timeout IS NOT NULL THEN
        fault := belfry.interval_fault(timeout, 1000000, 86400000000, 'must lie between 1s and 24h');
        IF fault IS NOT NULL THEN
            faults := array_append(faults, 'timeout: ' || fault);
        END IF;
    END IF;
    IF backoff IS NOT NULL THEN
        faults := faults || belfry.list_faults(backoff, NULL);
    END IF;
    IF target IS NOT NULL THEN
        faults := faults || belfry.target_faults(target);
    END IF;
    IF tags IS NOT NULL THEN
        faults := faults || belfry.list_faults(NULL, tags);
    END IF;
    IF trace <> '' AND trace !~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' THEN
        faults := array_append(faults, 'traceparent: must be a W3C traceparent of version 00');
    END IF;
    RETURN faults;
END
$$;
