-- The time of the caller's transaction, by which belfry.submit_job judges times.
SELECT now();
