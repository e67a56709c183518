-- Drop ledger rows written before an instant.
--   ?1 before   ?2 most   ?3 behind so many
DELETE FROM occurrences WHERE rowid IN (SELECT rowid FROM occurrences INDEXED BY occurrences_at WHERE at < ?1 LIMIT ?2 OFFSET ?3)
