-- Two rules in plainer words: run_at beside delay, and a header named twice.
-- belfry:oldest 8

-- What is wrong with a target: the rules of core's checkTarget.
CREATE OR REPLACE FUNCTION belfry.target_faults(target json) RETURNS text[] LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    shape   CONSTANT text := 'target: must be {"url": "https://...", "headers": {"name": "value"}} and nothing else';
    size    integer := octet_length(target::text);
    fault   text;
    faults  text[] := '{}';
    headers json;
BEGIN
    IF size > 16384 THEN
        RETURN ARRAY[format('target: is %s bytes, at most 16384 are kept', size)];
    END IF;
    fault := belfry.json_fault(target::text);
    IF fault IS NOT NULL THEN
        RETURN ARRAY['target: ' || fault];
    END IF;
    IF json_typeof(target) <> 'object' THEN
        RETURN ARRAY[shape];
    END IF;
    headers := coalesce(target -> 'headers', '{}');
    IF EXISTS (SELECT FROM json_each(target) m GROUP BY m.key HAVING count(*) > 1 OR m.key COLLATE "C" NOT IN ('url', 'headers'))
        OR json_typeof(target -> 'url') <> 'string' OR json_typeof(headers) <> 'object' THEN
        RETURN ARRAY[shape];
    END IF;
    IF EXISTS (SELECT FROM json_each(headers) h GROUP BY h.key HAVING count(*) > 1 OR bool_or(json_typeof(h.value) <> 'string')) THEN
        RETURN ARRAY[shape];
    END IF;
    IF octet_length(target ->> 'url') > 4096 THEN
        faults := array_append(faults, format('target.url: is %s bytes, at most 4096 are kept', octet_length(target ->> 'url')));
    ELSIF NOT belfry.is_target_url(coalesce(target ->> 'url', '')) THEN
        faults := array_append(faults, 'target.url: must be an http or https URL with a host and without a user or password');
    END IF;
    IF (SELECT count(*) FROM json_each(headers)) > 50 THEN
        faults := array_append(faults, format('target.headers: are %s, at most 50 are kept', (SELECT count(*) FROM json_each(headers))));
    END IF;
    IF EXISTS (SELECT FROM json_each_text(headers) h WHERE h.key COLLATE "C" !~ '^[A-Za-z0-9-]+$' OR h.value COLLATE "C" !~ '^[ -~]*$') THEN
        faults := array_append(faults, 'target.headers: must have names of letters, digits and - and values of visible ASCII');
    ELSIF EXISTS (SELECT FROM json_each(headers) h GROUP BY lower(h.key COLLATE "C") HAVING count(*) > 1) THEN
        faults := array_append(faults, 'target.headers: must name each header once; upper and lower case are the same');
    END IF;
    RETURN faults;
END
$$;

-- What is wrong with run_at, delay and expires_at, alone and against one another.
CREATE OR REPLACE FUNCTION belfry.time_faults(run_at timestamptz, delay interval, expires_at timestamptz) RETURNS text[] LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bounds   CONSTANT text := 'must lie between 10 years ago and 100 years ahead';
    month    timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
    since    interval := now() AT TIME ZONE 'UTC' - month;
    earliest timestamptz := (month - interval '10 years' + since) AT TIME ZONE 'UTC';
    latest   timestamptz := (month + interval '100 years' + since) AT TIME ZONE 'UTC';
    starts   timestamptz := run_at;
    fault    text;
    faults   text[] := '{}';
BEGIN
    IF run_at < earliest OR run_at > latest THEN
        faults := array_append(faults, 'run_at: ' || bounds);
    END IF;
    IF run_at IS NOT NULL AND delay IS NOT NULL THEN
        faults := array_append(faults, 'delay: set run_at or delay, not both');
    ELSIF run_at IS NULL THEN
        fault := belfry.interval_fault(delay, 0, 3153600000000000, 'must lie between 0s and 876000h (100 years)');
        IF fault IS NOT NULL THEN
            faults := array_append(faults, 'delay: ' || fault);
        ELSE
            starts := now() + coalesce(belfry.microseconds(delay), 0)::float8 * interval '1 microsecond';
        END IF;
    END IF;
    IF expires_at < earliest OR expires_at > latest THEN
        faults := array_append(faults, 'expires_at: ' || bounds);
    ELSIF faults = '{}' AND expires_at <= starts THEN
        faults := array_append(faults, 'expires_at: must be after the job may start');
    END IF;
    RETURN faults;
END
$$;
