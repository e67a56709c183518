-- Raise alerts that are not open, and clear those that are; a momentary one clears what is open instead. The items that changed something come back.
--   $1 clock offset  $2 kinds  $3 tenants  $4 subjects  $5 details  $6 clear  $7 momentary: raised and over at once
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::boolean[])
        WITH ORDINALITY AS g (kind, tenant, subject, detail, clear, momentary, item)
), raised AS (
    INSERT INTO belfry.alerts (kind, tenant, subject, detail, raised_at, cleared_at)
    SELECT kind, tenant, subject, detail, {now}, CASE WHEN momentary THEN {now} END
    FROM   given g
    WHERE  NOT coalesce(clear, false) AND NOT (coalesce(momentary, false) AND EXISTS (
               SELECT FROM belfry.alerts a WHERE a.kind = g.kind AND a.tenant = g.tenant AND a.subject = g.subject AND a.cleared_at IS NULL))
    ORDER  BY kind, tenant, subject
    ON CONFLICT (kind, tenant, subject) WHERE cleared_at IS NULL DO NOTHING
    RETURNING kind, tenant, subject
), cleared AS (
    UPDATE belfry.alerts a SET cleared_at = {now}
    FROM   given g
    WHERE  (g.clear OR g.momentary) AND a.kind = g.kind AND a.tenant = g.tenant AND a.subject = g.subject AND a.cleared_at IS NULL
    RETURNING g.item
)
SELECT item FROM cleared
UNION
SELECT g.item FROM given g JOIN raised r USING (kind, tenant, subject) WHERE NOT coalesce(g.clear, false);
