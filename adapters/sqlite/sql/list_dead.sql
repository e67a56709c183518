-- Ids of the dead letters that match, the lowest first.
--   ?1 type, '' for any   ?2 tenant, NULL for any   ?3 ids as a JSON array, NULL for any   ?4 failed before, or NULL
--   ?5 error group, '' for any   ?6 ids above   ?7 limit
SELECT d.id FROM {dead} AND {id} > ?6 AND {matches} ORDER BY {id} LIMIT ?7
