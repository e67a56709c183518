-- A target's URL with a space, or with a % that no two digits follow, is told so.
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
    url     text COLLATE "C";
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
    url := coalesce(target ->> 'url', '');
    IF EXISTS (SELECT FROM json_each(target) m GROUP BY m.key HAVING count(*) > 1 OR m.key COLLATE "C" NOT IN ('url', 'headers'))
        OR json_typeof(target -> 'url') <> 'string' OR json_typeof(headers) <> 'object' THEN
        RETURN ARRAY[shape];
    END IF;
    IF EXISTS (SELECT FROM json_each(headers) h GROUP BY h.key HAVING count(*) > 1 OR bool_or(json_typeof(h.value) <> 'string')) THEN
        RETURN ARRAY[shape];
    END IF;
    IF octet_length(url) > 4096 THEN
        faults := array_append(faults, format('target.url: is %s bytes, at most 4096 are kept', octet_length(url)));
    ELSIF NOT belfry.is_target_url(url) THEN
        faults := array_append(faults, 'target.url: ' || CASE
            WHEN url ~ '[^!-~]' THEN 'must be visible ASCII without spaces: percent-encode other characters, a space as %20'
            WHEN url ~ '%(?![0-9A-Fa-f]{2})' THEN 'must have two hexadecimal digits after each %: write a percent sign as %25'
            ELSE 'must be an http or https URL with a host and without a user or password' END);
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
