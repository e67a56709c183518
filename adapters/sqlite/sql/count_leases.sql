-- How many buckets have a lease row.
SELECT COUNT(*) FROM scheduler_leases WHERE bucket BETWEEN 0 AND 63
