-- Hold idempotency keys until the transaction ends, those that no other transaction holds; nobody is waited for. Which are
-- held the statements after it read from the setting belfry.held, which ends with the transaction.
--   $1 the keys' numbers
SELECT set_config('belfry.held', (SELECT coalesce(array_agg(g.n), '{}') FROM unnest($1::bigint[]) AS g (n) WHERE pg_try_advisory_xact_lock(g.n))::text, true);
