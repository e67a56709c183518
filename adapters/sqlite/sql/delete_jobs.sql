-- Take jobs out of the live ones.
--   ?1 ids as a JSON array
DELETE FROM jobs WHERE id IN (SELECT value FROM json_each(?1))
