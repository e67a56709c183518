-- Types from which a success is expected, since when, the end of the newest minute in which one was done since then,
-- and whether the alert is open.
--   ?1 kind of the alert
SELECT type, expect_within, expect_from,
       (SELECT r.minute + 60000000 FROM rollups r
        WHERE  r.type = t.type AND r.minute > 0 AND r.minute > t.expect_from - 60000000 AND r.done > 0
        ORDER  BY r.minute DESC LIMIT 1),
       EXISTS (SELECT 1 FROM alerts a WHERE a.kind = ?1 AND a.tenant = '' AND a.subject = t.type AND a.cleared_at IS NULL)
FROM   job_types t WHERE expect_within > 0
