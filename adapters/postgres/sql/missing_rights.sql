-- The rights that this role lacks to work, and to answer callers, each '' for none; whether it has none at all on the tables that
-- only those need who answer callers, as workers' roles do; and what it lacks to make partitions. It reads the catalogue alone.
SELECT {missing_rights};
