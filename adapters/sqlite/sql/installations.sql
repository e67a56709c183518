-- All installations, oldest first.
SELECT first_id, id, begun_at, place FROM installations ORDER BY first_id
