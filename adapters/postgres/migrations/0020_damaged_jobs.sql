-- Live jobs that no statement ever does anything with, because a value in them was damaged, so that they can be named. There are
-- none as a rule: the index is empty.
-- belfry:oldest 8

-- belfry:step concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS jobs_damaged ON belfry.jobs (id)
    WHERE status NOT IN (1, 2, 3) OR status <> 1 AND priority NOT IN (1, 2, 3) OR status = 1 AND run_at > '9999-12-31 23:59:59.999999+00';
