-- What workers say of themselves, as far as others want to know.
SELECT function, queues, delivers, types, seen_at FROM workers
