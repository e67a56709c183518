-- Note types whose jobs bring targets of their own, under lock_types: all of them, or none where they would be more
-- than are kept. The row says which.
--   $1 types  $2 most types
WITH given AS MATERIALIZED (
    SELECT DISTINCT g.type COLLATE "C" AS type FROM unnest($1::text[]) AS g (type)
), kept AS MATERIALIZED (
    SELECT type FROM belfry.job_types WHERE defined_at IS NOT NULL OR delivered
), room AS MATERIALIZED (
    SELECT (SELECT count(*) FROM kept) + count(*) <= $2::bigint OR count(*) = 0 AS enough
    FROM   given g
    WHERE  NOT EXISTS (SELECT FROM kept k WHERE k.type = g.type)
), marked AS (
    INSERT INTO belfry.job_types AS t (type, delivered)
    SELECT type, true FROM given WHERE (SELECT enough FROM room) ORDER BY type
    ON CONFLICT (type) DO UPDATE SET delivered = true WHERE NOT t.delivered
)
SELECT enough FROM room;
