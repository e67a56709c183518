-- Take one job out of the live ones.
--   ?1 id
DELETE FROM jobs WHERE id = ?1
