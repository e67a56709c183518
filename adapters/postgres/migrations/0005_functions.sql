-- Jobs from SQL: belfry.submit, belfry.submit_job and belfry.cancel, for any language and in any transaction.
--
-- They run with the rights of their owner, so that a role that may execute them needs no table; nobody may until
-- granted. Nothing in them depends on the caller's search_path, string settings, time zone or collations. The rules
-- of a valid job are those of core.CheckNewJob, in the same words; one table of inputs holds the two together.

-- What is wrong with a name, or NULL: the rule of core.CheckText.
CREATE FUNCTION belfry.text_fault(given text, most integer) RETURNS text LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text COLLATE "C" := given;
    odd  text COLLATE "C";
BEGIN
    IF octet_length(name) > most THEN
        RETURN format('is %s bytes, at most %s are kept', octet_length(name), most);
    END IF;
    -- Control characters, the line and paragraph separators, and code points that are never a character.
    odd := substring(name FROM E'[\\u0001-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ufdd0-\\ufdef\\ufffe\\uffff'
        '\\U0001fffe\\U0001ffff\\U0002fffe\\U0002ffff\\U0003fffe\\U0003ffff\\U0004fffe\\U0004ffff\\U0005fffe\\U0005ffff'
        '\\U0006fffe\\U0006ffff\\U0007fffe\\U0007ffff\\U0008fffe\\U0008ffff\\U0009fffe\\U0009ffff\\U000afffe\\U000affff'
        '\\U000bfffe\\U000bffff\\U000cfffe\\U000cffff\\U000dfffe\\U000dffff\\U000efffe\\U000effff\\U000ffffe\\U000fffff'
        '\\U0010fffe\\U0010ffff]');
    IF odd IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN format('holds the control character U+%s at byte %s',
        upper(lpad(to_hex(ascii(odd)), greatest(4, length(to_hex(ascii(odd)))), '0')), octet_length(left(name, strpos(name, odd) - 1)));
END
$$;

-- What a JSON text holds that no store can keep, or NULL. The text is well formed: it was a json. Then a pair of
-- backslashes is always one escape, and any backslash left is the beginning of another. What is found to be clean in
-- one pass is not looked at again.
CREATE FUNCTION belfry.json_fault(given text) RETURNS text LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    doc   text COLLATE "C" := given;
    pairs CONSTANT text := E'^(?:[^\\\\]|\\\\[^u]|\\\\u(?:[0-9a-cA-CefEF]|[dD][0-7]|[dD][89abAB][[:xdigit:]]{2}\\\\u[dD][c-fC-F]))*$';
    lone  CONSTANT text := E'\\\\u[dD][89abAB][[:xdigit:]]{2}(?!\\\\u[dD][c-fC-F])|(?<!\\\\u[dD][89abAB][[:xdigit:]]{2})\\\\u[dD][c-fC-F]';
BEGIN
    IF strpos(doc, E'\\u') = 0 OR strpos(doc, E'\\u0000') = 0 AND doc ~ pairs THEN
        RETURN NULL;
    END IF;
    doc := replace(doc, E'\\\\', 'xx');
    IF strpos(doc, E'\\u0000') > 0 THEN
        RETURN format(E'holds \\u0000 at byte %s, which cannot be kept', octet_length(split_part(doc, E'\\u0000', 1)));
    END IF;
    IF doc ~ lone THEN
        RETURN format('holds a lone surrogate at byte %s, which is no character', octet_length((regexp_split_to_array(doc, lone))[1]));
    END IF;
    RETURN NULL;
END
$$;

-- How deep a JSON text nests arrays and objects. Each round takes the innermost away.
CREATE FUNCTION belfry.json_depth(given text) RETURNS integer LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    brackets text COLLATE "C" := translate(regexp_replace(regexp_replace(given COLLATE "C", E'"(?:[^"\\\\]|\\\\.)*"', '', 'g'),
        E'[^][{}]+', '', 'g'), '{}', '[]');
    depth    integer := 0;
BEGIN
    WHILE brackets <> '' LOOP
        brackets := replace(brackets, '[]', '');
        depth := depth + 1;
    END LOOP;
    RETURN depth;
END
$$;

-- Whether a JSON text nests at most 100 deep: one pass by an automaton, which counts nothing.
CREATE FUNCTION belfry.json_is_flat(given text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT octet_length(given) < 202 OR given COLLATE "C" ~ ('^' || repeat(E'(?:[^]["{}]|"(?:[^"\\\\]|\\\\.)*"|[[{]', 100)
        || E'(?:[^]["{}]|"(?:[^"\\\\]|\\\\.)*")*' || repeat('[]}])*', 100) || '$')
$$;

-- The microseconds of an interval; NULL where it has months or years, whose length depends on when they begin, or no
-- end. A day has 24 hours here, as everywhere in Belfry.
CREATE FUNCTION belfry.microseconds(given interval) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN isfinite(given) AND extract(year FROM given) = 0 AND extract(month FROM given) = 0
        THEN extract(epoch FROM given) * 1000000 END
$$;

-- What is wrong with an interval that must lie between two numbers of microseconds, or NULL.
CREATE FUNCTION belfry.interval_fault(given interval, low bigint, high bigint, rule text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN given IS NULL THEN NULL WHEN NOT isfinite(given) THEN rule
        WHEN belfry.microseconds(given) IS NULL THEN 'must be made of days and smaller units: months and years have no fixed length'
        WHEN belfry.microseconds(given) NOT BETWEEN low AND high THEN rule END
$$;

-- Whether a text is a URL that a job may be delivered to: absolute, http or https, of visible ASCII, with a host and
-- without a user or password.
CREATE FUNCTION belfry.is_target_url(given text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    url text COLLATE "C" := given;
BEGIN
    IF url !~ E'^[Hh][Tt][Tt][Pp][Ss]?://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]*)?(/([!-"$&->@-~]|%[[:xdigit:]]{2})*)?(\\?[!-"$-~]*)?(#([!-$&-~]|%[[:xdigit:]]{2})*)?$' THEN
        RETURN false;
    END IF;
    IF strpos(split_part(url, '/', 3), '[') = 1 THEN
        BEGIN
            RETURN family(substring(url FROM E'\\[([^]]*)\\]')::inet) = 6;
        EXCEPTION WHEN invalid_text_representation THEN
            RETURN false;
        END;
    END IF;
    RETURN true;
END
$$;

-- What is wrong with a target: the rules of core's checkTarget.
CREATE FUNCTION belfry.target_faults(target json) RETURNS text[] LANGUAGE plpgsql IMMUTABLE
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
        faults := array_append(faults, 'target.headers: must name each header once, in whatever case: they are one to HTTP');
    END IF;
    RETURN faults;
END
$$;

-- What is wrong with run_at, delay and expires_at, alone and against one another.
CREATE FUNCTION belfry.time_faults(run_at timestamptz, delay interval, expires_at timestamptz) RETURNS text[] LANGUAGE plpgsql STABLE
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
        faults := array_append(faults, 'delay: must not stand beside run_at: one of them says when');
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

-- What is wrong with lists of waits and of tags. Elements are counted from 0, as in the API.
CREATE FUNCTION belfry.list_faults(backoff interval[], tags text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    faults text[] := '{}';
    item   record;
BEGIN
    IF backoff IS NOT NULL THEN
        IF cardinality(backoff) NOT BETWEEN 1 AND 20 OR array_ndims(backoff) > 1 THEN
            faults := array_append(faults, 'backoff: must list 1 to 20 durations');
        ELSE
            FOR item IN
                SELECT u.n - 1 AS n, CASE WHEN u.wait IS NULL THEN 'must not be null'
                    ELSE belfry.interval_fault(u.wait, 0, 2592000000000, 'must lie between 0s and 720h (30 days)') END AS fault
                FROM   unnest(backoff) WITH ORDINALITY u (wait, n) ORDER BY u.n
            LOOP
                IF item.fault IS NOT NULL THEN
                    faults := array_append(faults, format('backoff[%s]: %s', item.n, item.fault));
                END IF;
            END LOOP;
        END IF;
    END IF;
    IF tags IS NOT NULL THEN
        IF cardinality(tags) > 20 THEN
            faults := array_append(faults, format('tags: are %s, at most 20 are kept', cardinality(tags)));
        ELSIF array_ndims(tags) > 1 THEN
            faults := array_append(faults, 'tags: must be a list of texts');
        ELSE
            FOR item IN
                SELECT u.n - 1 AS n, CASE WHEN u.tag IS NULL THEN 'must not be null' WHEN octet_length(u.tag) = 0 THEN 'must not be empty'
                    ELSE belfry.text_fault(u.tag, 64) END AS fault
                FROM   unnest(tags) WITH ORDINALITY u (tag, n) ORDER BY u.n
            LOOP
                IF item.fault IS NOT NULL THEN
                    faults := array_append(faults, format('tags[%s]: %s', item.n, item.fault));
                END IF;
            END LOOP;
        END IF;
    END IF;
    RETURN faults;
END
$$;

-- Every rule that a job breaks, as "field: rule", in the order of core.CheckNewJob.
CREATE FUNCTION belfry.job_faults(type text, payload json, run_at timestamptz, delay interval, priority text, tenant text,
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
        fault := belfry.text_fault(tenant, 255);
        IF fault IS NOT NULL THEN
            faults := array_append(faults, 'tenant: ' || fault);
        END IF;
    END IF;
    IF dedupe_key IS NOT NULL THEN
        fault := CASE WHEN octet_length(dedupe_key) = 0 THEN 'must not be empty; leave the field out instead' ELSE belfry.text_fault(dedupe_key, 512) END;
        IF fault IS NOT NULL THEN
            faults := array_append(faults, 'dedupe_key: ' || fault);
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

-- The job that a submit led to: a new one, or the live one that holds its dedupe key.
CREATE TYPE belfry.submitted AS (id bigint, duplicate boolean, run_at timestamptz, created_at timestamptz);

-- Submits a job in the caller's transaction: it exists exactly if that commits. NULL is the same as left out. Rules it
-- breaks are one error 22023, "field: rule; field: rule", whose column is the first field. A key that another open
-- transaction holds is waited for, as long as the caller's lock_timeout allows.
CREATE FUNCTION belfry.submit_job(type text, payload json DEFAULT '{}', run_at timestamptz DEFAULT NULL, delay interval DEFAULT NULL,
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
            submit_job.expires_at,
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

-- Notes that jobs of a type bring targets of their own, unless that is known. 10,000 types are kept at most; two
-- transactions at once may each add one more.
CREATE FUNCTION belfry.mark_delivered(name text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF EXISTS (SELECT FROM belfry.job_types t WHERE t.type = mark_delivered.name AND t.delivered) THEN
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM belfry.job_types t WHERE t.type = mark_delivered.name AND t.defined_at IS NOT NULL)
        AND (SELECT count(*) FROM belfry.job_types t WHERE t.defined_at IS NOT NULL OR t.delivered) >= 10000 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', COLUMN = 'type', MESSAGE = 'type: would be one more than the 10000 types that can be kept: '
            'delete definitions nobody uses, or use fewer types for jobs with a target of their own';
    END IF;
    INSERT INTO belfry.job_types AS t (type, delivered) VALUES (mark_delivered.name, true)
    ON CONFLICT (type) DO UPDATE SET delivered = true WHERE NOT t.delivered;
END
$$;

-- submit_job for those who want the id and nothing else.
CREATE FUNCTION belfry.submit(type text, payload json DEFAULT '{}', run_at timestamptz DEFAULT NULL, delay interval DEFAULT NULL,
    priority text DEFAULT NULL, tenant text DEFAULT NULL, dedupe_key text DEFAULT NULL, max_attempts integer DEFAULT NULL,
    timeout interval DEFAULT NULL, expires_at timestamptz DEFAULT NULL, backoff interval[] DEFAULT NULL, target json DEFAULT NULL,
    tags text[] DEFAULT NULL, traceparent text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (belfry.submit_job(type, payload, run_at, delay, priority, tenant, dedupe_key, max_attempts, timeout, expires_at, backoff,
        target, tags, traceparent)).id;
END
$$;

-- Cancels a job in the caller's transaction. 'cancelled': it never starts. 'running': its handler is told at its next
-- heartbeat; repeating that is fine. An ended job is an error 55000 that says how it ended, an unknown one P0002. A row
-- that another transaction holds is waited for, as long as the caller's lock_timeout allows.
CREATE FUNCTION belfry.cancel(id bigint) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    was smallint;
BEGIN
    IF cancel.id IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'id: is required', COLUMN = 'id';
    END IF;
    FOR round IN 1 .. 10 LOOP
        SELECT j.status INTO was FROM belfry.jobs j WHERE j.id = cancel.id FOR UPDATE;
        IF was = 3 THEN
            UPDATE belfry.jobs j SET cancel_wanted = true WHERE j.id = cancel.id;
            RETURN 'running';
        ELSIF was IS NOT NULL THEN
            BEGIN
                PERFORM belfry.end_cancelled(cancel.id, 'job_history');
            EXCEPTION WHEN check_violation THEN -- a day without a partition
                PERFORM belfry.end_cancelled(cancel.id, 'job_history_overflow');
            END;
            RETURN 'cancelled';
        END IF;
        -- In one statement: a row may be moving between the tables.
        SELECT a.status INTO was FROM (
            SELECT j.status FROM belfry.jobs j WHERE j.id = cancel.id
            UNION ALL SELECT d.status FROM belfry.dead_letters d WHERE d.id = cancel.id
            UNION ALL SELECT h.status FROM belfry.job_history h WHERE h.id = cancel.id
            UNION ALL SELECT h.status FROM belfry.job_history_overflow h WHERE h.id = cancel.id) a;
        IF was IS NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'P0002', MESSAGE = format('cancel: job %s is not found', cancel.id);
        ELSIF was > 3 THEN
            RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = 'cancel: the job is ' || (ARRAY['done', 'failed', 'cancelled'])[was - 3];
        END IF;
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = 'cancel: the job moves between tables';
END
$$;

-- Moves a waiting job, whose row is locked, to where cancelled ones are kept.
CREATE FUNCTION belfry.end_cancelled(id bigint, kept_in text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept CONSTANT text := 'id, run_at, created_at, started_at, expires_at, ended_token, claim_id, dispatch_fence, attempts, max_attempts, '
        'snoozes, dispatches, priority, type, tenant, payload, timeout, backoff, dedupe_key, worker_id, target, tags, trace, errors';
BEGIN
    EXECUTE format('WITH gone AS (DELETE FROM belfry.jobs j WHERE j.id = $1 RETURNING %s, least(j.lease_token, 9223372036854775806) + 1 AS lease_token) '
        'INSERT INTO belfry.%I (%s, lease_token, status, finished_at, reason) SELECT %s, lease_token, 6, now(), ''cancelled'' FROM gone',
        kept, kept_in, kept, kept) USING end_cancelled.id;
END
$$;

-- Roles are given what they need of submit, submit_job and cancel; the rest runs with the owner's rights.
REVOKE ALL ON FUNCTION belfry.text_fault, belfry.json_fault, belfry.json_depth, belfry.json_is_flat, belfry.microseconds, belfry.interval_fault,
    belfry.is_target_url, belfry.target_faults, belfry.time_faults, belfry.list_faults, belfry.job_faults, belfry.mark_delivered,
    belfry.end_cancelled, belfry.submit_job, belfry.submit, belfry.cancel FROM PUBLIC;
