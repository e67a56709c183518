-- What is known of a type beside what workers announce.
--   ?1 type
SELECT type, unhandled_until, unhandled_wait, announced_at IS NOT NULL, target IS NOT NULL OR delivered = 1 FROM job_types WHERE type = ?1
