-- Delete a schedule.
--   ?1 id
DELETE FROM schedules WHERE id = ?1
