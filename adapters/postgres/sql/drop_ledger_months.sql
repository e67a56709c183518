-- Drop the ledger's months that lie wholly before the retention, and say how many.
--   $1 clock offset  $2 retention
SELECT belfry.drop_ledger_months({now} - $2::interval);
