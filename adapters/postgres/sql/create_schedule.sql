-- Keep a new schedule. Nothing comes back when its tenant has one of that name.
--   $1 clock offset  $2 tenant  $3 name  $4 type  $5 paused  $6 exclusive  $7 rule  $8 anchor  $9 accounted  $10 next due
--   $11 paused at  $12 time zone data  $13 expect by  $14 expected  $15 payload  $16 created at, or null for now  $17 zone mark
INSERT INTO belfry.schedules (id, tenant, name, type, paused, exclusive, rule, created_at, updated_at, anchor, accounted, next_due,
    paused_at, tz_data, expect_by, expected, payload, zone_mark)
VALUES (nextval('belfry.schedule_ids'::regclass), $2::text, $3::text, $4::text, $5::boolean, $6::boolean, $7::json,
    coalesce($16::timestamptz, {now}), coalesce($16, {now}), $8::timestamptz, $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::text,
    $13::timestamptz, $14::timestamptz, $15::json, $17::text)
ON CONFLICT (tenant, name) DO NOTHING
RETURNING id, created_at;
