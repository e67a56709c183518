-- Make the ledger's partitions of this month and the next ones, unless they are there, and say how many.
--   $1 clock offset  $2 months ahead
SELECT count(*) FILTER (WHERE belfry.make_ledger_month((({now} AT TIME ZONE 'UTC') + make_interval(months => ahead::integer))::date))
FROM   generate_series(0, $2::bigint) AS ahead;
