-- Delete a schedule's ledger.
--   ?1 id
DELETE FROM occurrences WHERE schedule_id = ?1
