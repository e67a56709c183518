-- Set a row apart: for the first time, or again for longer, once the time is over for which it was. One that was met meanwhile
-- and did not fail begins anew. No more than so many are apart at once.
--   ?1 kind   ?2 id   ?3 name   ?4 what it is about   ?5 act   ?6 error   ?7 now   ?8 first time   ?9 longest time
--   ?10 whether the kind has room for one more
INSERT INTO set_apart (kind, row_id, name, about, act, error, first_at, retry_at)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7 + ?8
WHERE  ?10
ON CONFLICT (kind, row_id, name) DO UPDATE
SET    about = excluded.about, act = excluded.act, error = excluded.error,
       tries = CASE WHEN retry_at + {apart_again} < ?7 THEN 1 ELSE MIN(tries, 1000000) + 1 END,
       first_at = CASE WHEN retry_at + {apart_again} < ?7 THEN ?7 ELSE first_at END,
       told = (told AND retry_at + {apart_again} >= ?7),
       retry_at = ?7 + CASE WHEN retry_at + {apart_again} < ?7 THEN ?8 ELSE MIN(?8 << MIN(tries, 20), ?9) END
WHERE  retry_at <= ?7
