-- Come before others who define or mark types, so that the count of those kept holds. It ends with the transaction.
SELECT pg_advisory_xact_lock(x'62656c66'::integer, x'74797065'::integer);
