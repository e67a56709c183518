-- Raise an alert, unless it is open.
--   ?1 kind   ?2 tenant   ?3 subject   ?4 detail   ?5 now   ?6 cleared_at or NULL
INSERT INTO alerts (id, kind, tenant, subject, detail, raised_at, cleared_at) VALUES ({next_id alerts}, ?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (kind, tenant, subject) WHERE cleared_at IS NULL DO NOTHING
