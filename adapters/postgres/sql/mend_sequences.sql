-- Put each sequence of ids that rows are ahead of to the highest id there is, under lock_sequences.
--   $1 the highest id of a job known to be given, 0 for none
SELECT setval(b.name, b.highest)
FROM  ({sequences_behind}) AS b;
