-- Note which events of an alert were published.
--   ?1 id   ?2 1 raised, 2 cleared too
UPDATE alerts SET sent = MAX(sent, ?2) WHERE id = ?1
