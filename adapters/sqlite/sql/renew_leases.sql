-- Renew the holder's bucket leases and take those that were released or have run out. Only a taken one gets
-- a new token. One that runs longer than any that is written is nobody's: somebody damaged it.
--   ?1 holder   ?2 now   ?3 expires at   ?4 later than any that is written   ?5 these buckets, from   ?6 and to
UPDATE scheduler_leases
SET    token = token + (holder <> ?1 AND token < 9223372036854775807), holder = ?1, expires_at = ?3
WHERE  (holder IN (?1, '') OR expires_at <= ?2 OR expires_at > ?4) AND bucket BETWEEN ?5 AND ?6
