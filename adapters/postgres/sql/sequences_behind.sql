-- Sequences of ids that rows are ahead of, and the highest id there is.
--   $1 the highest id of a job known to be given, 0 for none
SELECT b.name::text, b.highest
FROM  ({sequences_behind}) AS b;
