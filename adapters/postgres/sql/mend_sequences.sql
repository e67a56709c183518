-- Put each sequence of ids that rows are ahead of to the highest id there is, under lock_sequences.
SELECT setval(b.name, b.highest)
FROM  ({sequences_behind}) AS b;
