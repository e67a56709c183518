-- Histograms whose counts were damaged end at the greatest number there is, where adding them up raised an error.
-- belfry:oldest 8

CREATE OR REPLACE FUNCTION belfry.add_up(a bigint[], b bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(least(coalesce(u.a, 0)::numeric + coalesce(u.b, 0), 9223372036854775807)::bigint ORDER BY u.i), '{}')
    FROM   unnest(a, b) WITH ORDINALITY AS u (a, b, i)
$$;
