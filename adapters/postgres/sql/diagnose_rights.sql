-- The rights to write jobs and to make partitions that this role lacks; '' for none.
SELECT {missing_to_write}, {missing_to_maintain};
