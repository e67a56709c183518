-- Begin an installation.
--   ?1 its first job  ?2 its id  ?3 its place  ?4 now
INSERT INTO installations (first_id, id, place, begun_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (first_id) DO UPDATE SET id = excluded.id, place = excluded.place, begun_at = excluded.begun_at
