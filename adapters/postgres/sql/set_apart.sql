-- Set rows apart: for the first time, or again for longer, once the time is over for which they were. One that was met
-- meanwhile and did not fail begins anew. No more than so many are apart at once.
--   $1 clock offset  $2 … $7 one element per row: kinds, ids, names, what they are about, acts, errors
--   $8 first time  $9 longest time  $10 most
WITH full_kinds AS MATERIALIZED (
    SELECT kind FROM belfry.set_apart GROUP BY kind HAVING count(*) >= $10::bigint
)
INSERT INTO belfry.set_apart AS a (kind, row_id, name, about, act, error, first_at, retry_at)
SELECT DISTINCT ON (g.kind, g.row_id, g.name) g.*, {now}, {now} + $8::interval
FROM   unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[]) AS g (kind, row_id, name, about, act, error)
WHERE  g.kind NOT IN (SELECT kind FROM full_kinds) OR EXISTS (SELECT FROM belfry.set_apart s WHERE s.kind = g.kind AND s.row_id = g.row_id AND s.name = g.name)
ORDER  BY g.kind, g.row_id, g.name
ON CONFLICT (kind, row_id, name) DO UPDATE
SET    about = excluded.about, act = excluded.act, error = excluded.error,
       tries = CASE WHEN a.retry_at + {apart_again} < {now} THEN 1 ELSE least(a.tries, 1000000) + 1 END,
       first_at = CASE WHEN a.retry_at + {apart_again} < {now} THEN {now} ELSE a.first_at END,
       told = a.told AND a.retry_at + {apart_again} >= {now},
       retry_at = {now} + CASE WHEN a.retry_at + {apart_again} < {now} THEN $8 ELSE least($8 * power(2, least(a.tries, 20)), $9::interval) END
WHERE  a.retry_at <= {now};
