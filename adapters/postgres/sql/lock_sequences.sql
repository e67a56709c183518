-- Come before others who put sequences right, so that none of them puts one back. It ends with the transaction.
SELECT pg_advisory_xact_lock(x'62656c66'::integer, x'73657173'::integer);
