-- Keep a new schedule; nothing happens where its tenant has one of that name.
--   ?1 tenant   ?2 name   ?3 rule   ?4 payload   ?5 type   ?6 paused   ?7 exclusive   ?8 now   ?9 anchor   ?10 accounted   ?11 next_due
--   ?12 paused_at   ?13 tz_data   ?14 expect_by   ?15 expected
--   ?16 created_at, or NULL for now
INSERT INTO schedules (id, tenant, name, rule, payload, type, paused, exclusive, created_at, updated_at, anchor, accounted, next_due, paused_at,
	tz_data, expect_by, expected)
VALUES ({next_id schedules}, ?1, ?2, ?3, ?4, ?5, ?6, ?7, COALESCE(?16, ?8), COALESCE(?16, ?8), ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (tenant, name) DO NOTHING
