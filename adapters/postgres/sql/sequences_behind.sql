-- Sequences of ids that rows are ahead of, and the highest id there is.
SELECT b.name::text, b.highest
FROM  ({sequences_behind}) AS b;
