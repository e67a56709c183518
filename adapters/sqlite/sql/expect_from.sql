-- Note when a job of a type was done last.
--   ?1 type   ?2 the end of its minute
UPDATE job_types SET expect_from = ?2 WHERE type = ?1
