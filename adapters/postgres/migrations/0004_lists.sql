-- What lists of jobs need, and groups of dead letters. Indexes here are of rows with a tenant, or of dead letters: a job
-- that has no tenant and does not fail pays for none of them.
--
-- They end in (id + 0), which the lists that want them order by: no other index is in that order, and that of the
-- primary key is in no other, so each statement has one way to go, whatever the statistics say.

-- belfry:step concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS jobs_tenant ON belfry.jobs (tenant, (id + 0)) WHERE tenant <> '';

-- belfry:step
CREATE INDEX job_history_tenant ON belfry.job_history (tenant, (id + 0)) WHERE tenant <> '';
CREATE INDEX job_history_overflow_tenant ON belfry.job_history_overflow (tenant, (id + 0)) WHERE tenant <> '';

-- The group of a dead letter: 16 hexadecimal digits over its type, and the kind and the text of its last error, in
-- which what differs from one to the next (numbers, ids, addresses, quoted parts) counts as the same. core.ErrorGroup
-- is its twin. Whatever someone wrote into errors by hand, it answers.
CREATE FUNCTION belfry.error_group(type text, errors json) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    last json;
    kind text := '';
    said text := '';
BEGIN
    BEGIN
        IF json_typeof(errors) = 'array' THEN
            last := errors -> -1;
            kind := coalesce(last ->> 'kind', '');
            said := left(coalesce(last ->> 'error', ''), 1000);
        END IF;
    EXCEPTION WHEN OTHERS THEN -- text that no string of this database can hold, as "\u0000"
        kind := '';
        said := '';
    END;
    said := regexp_replace(said, '"[^"]*"', '?', 'g');
    said := regexp_replace(said, '`[^`]*`', '?', 'g');
    said := regexp_replace(said, '(^|[^A-Za-z0-9_])''[^'']*''', '\1?', 'g');
    said := regexp_replace(said, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}', '?', 'g');
    said := regexp_replace(said, '[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*', '?', 'g');
    said := regexp_replace(said, '[A-Za-z_]*[0-9][A-Za-z0-9_]*', '?', 'g');
    said := regexp_replace(said, '[?]([.:,/+@-]+[?])+', '?', 'g');
    said := left(regexp_replace(said, '[ \t\r\n]+', ' ', 'g'), 200);
    RETURN left(encode(sha256(convert_to(type || E'\x1f' || kind || E'\x1f' || said, 'UTF8')), 'hex'), 16);
END
$$;

ALTER TABLE belfry.dead_letters ADD COLUMN error_group text COLLATE "C" GENERATED ALWAYS AS (belfry.error_group(type, errors)) STORED;
CREATE INDEX dead_letters_type ON belfry.dead_letters (type, (id + 0));
CREATE INDEX dead_letters_group ON belfry.dead_letters (error_group, (id + 0));
CREATE INDEX dead_letters_tenant ON belfry.dead_letters (tenant, (id + 0)) WHERE tenant <> '';
