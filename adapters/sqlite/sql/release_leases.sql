-- Give a holder's bucket leases up as clean.
--   ?1 holder
UPDATE scheduler_leases SET holder = '', expires_at = 0 WHERE holder = ?1
