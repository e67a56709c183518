-- What workers say of themselves, as far as others want to know.
SELECT function, queues, delivers, types, seen_at, slots, busy, delivery_slots, deliveries FROM workers
