-- What is kept under idempotency keys: hash, status and answer; nulls where nothing is.
--   $1 clock offset  $2 holders  $3 keys
SELECT k.hash, k.status, k.answer
FROM   unnest($2::text[], $3::text[]) WITH ORDINALITY AS g (holder, key, place)
       LEFT JOIN LATERAL (
           SELECT hash, status, answer FROM belfry.idempotency_keys k
           WHERE  k.holder = g.holder AND k.key = g.key AND k.expires_at > {now}
           OFFSET 0
       ) k ON true
ORDER  BY g.place;
