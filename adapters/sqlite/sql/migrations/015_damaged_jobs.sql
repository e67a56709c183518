-- Live jobs that no statement ever does anything with, because a value in them was damaged, so that they can be named. There are
-- none as a rule: the index is empty.
-- belfry:oldest 7

CREATE INDEX jobs_damaged ON jobs (id)
	WHERE status NOT IN (1, 2, 3) OR status <> 1 AND priority NOT IN (1, 2, 3) OR status = 1 AND run_at > 253402300799999999;
