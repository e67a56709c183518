-- Jobs that match, newest id first, among the first ?10 rows below a cursor. A table none of whose statuses is asked for
-- is not read.
--   ?1 statuses as bits (1 << status)   ?2 type, '' for any   ?3 tenant, NULL for any   ?4 priority, 0 for any
--   ?5 tag, '' for any   ?6 run_at from   ?7 run_at before, NULL for any   ?8 id below   ?9 limit   ?10 rows looked at
--   ?11 error group, '' for any   ?12 failed before, NULL for any   ?13 schedule, '' for any
SELECT * FROM ({rows}) AS j WHERE {matches} LIMIT ?9
