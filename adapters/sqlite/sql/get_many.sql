-- Live jobs by id.
--   ?1 ids as a JSON array
SELECT * FROM jobs WHERE id IN (SELECT value FROM json_each(?1))
