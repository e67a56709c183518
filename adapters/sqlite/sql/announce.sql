-- A worker is there and handles these types: it counts as living from now on.
--   ?1 id   ?2 host   ?3 version   ?4 function   ?5 queues   ?6 delivers   ?7 types as JSON   ?8 slots   ?9 busy   ?10 slots for deliveries
--   ?11 in use   ?12 now
INSERT INTO workers (id, host, version, function, queues, delivers, types, slots, busy, delivery_slots, deliveries, since, seen_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)
ON CONFLICT (id) DO UPDATE
SET host = excluded.host, version = excluded.version, function = excluded.function, queues = excluded.queues, delivers = excluded.delivers,
    types = excluded.types, slots = excluded.slots, busy = excluded.busy,
    delivery_slots = excluded.delivery_slots, deliveries = excluded.deliveries, seen_at = excluded.seen_at
