-- A worker is there and handles these types: it counts as living from now on, and the marks of its types go, as do
-- announcements of programs of before. A row of job_types that someone has locked is left for the next time.
--   $1 clock offset  $2 id  $3 host  $4 version  $5 function  $6 queues  $7 delivers  $8 types  $9 their key  $10 slots  $11 busy
--   $12 slots for deliveries  $13 in use
WITH here AS (
    INSERT INTO belfry.workers AS w (id, host, version, function, queues, delivers, types, types_key, slots, busy, delivery_slots, deliveries, since, seen_at)
    VALUES ($2::text, $3::text, $4::text, $5::boolean, $6::boolean, $7::boolean, $8::text[], $9::text, $10::bigint, $11::bigint, $12::bigint, $13::bigint, {now}, {now})
    ON CONFLICT (id) DO UPDATE
    SET    host = excluded.host, version = excluded.version, function = excluded.function, queues = excluded.queues,
           delivers = excluded.delivers, types = excluded.types, types_key = excluded.types_key, slots = excluded.slots,
           busy = excluded.busy, delivery_slots = excluded.delivery_slots, deliveries = excluded.deliveries, seen_at = excluded.seen_at
), marked AS MATERIALIZED (
    SELECT type
    FROM   belfry.job_types
    WHERE  (unhandled_until IS NOT NULL OR announced_at IS NOT NULL)
      AND  (type = ANY ($8) OR $7 AND (target IS NOT NULL OR delivered))
    ORDER  BY type
    FOR    UPDATE SKIP LOCKED
)
UPDATE belfry.job_types
SET    unhandled_until = NULL, unhandled_wait = '0', announced_at = NULL
WHERE  type = ANY (ARRAY(SELECT type FROM marked));
