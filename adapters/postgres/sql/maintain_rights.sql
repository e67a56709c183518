-- The rights to make partitions that this role lacks; '' for none.
SELECT {missing_to_maintain};
