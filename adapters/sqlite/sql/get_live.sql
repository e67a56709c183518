-- One live job.
--   ?1 id
SELECT * FROM jobs WHERE id = ?1
