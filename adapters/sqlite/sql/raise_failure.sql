-- Raise an alert about failures, or count them to the one that is open.
--   ?1 kind   ?2 subject   ?3 detail   ?4 count   ?5 now   ?6 when the newest failed
INSERT INTO alerts (id, kind, tenant, subject, detail, count, raised_at, last_at) VALUES ({next_id alerts}, ?1, '', ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (kind, tenant, subject) WHERE cleared_at IS NULL DO UPDATE SET count = MIN(count, 9223372036854775807 - excluded.count) + excluded.count, last_at = MAX(last_at, excluded.last_at)
