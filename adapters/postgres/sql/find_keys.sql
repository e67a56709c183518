-- What is kept under idempotency keys, after hold_keys: whether each is held, and the answer of an earlier call, if any.
--   $1 clock offset  $2 holders  $3 keys  $4 their numbers
SELECT g.number = ANY (current_setting('belfry.held')::bigint[]), k.hash, k.status, k.answer
FROM   unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS g (holder, key, number, place)
       LEFT JOIN belfry.idempotency_keys k ON k.holder = g.holder AND k.key = g.key AND k.expires_at > {now}
ORDER  BY g.place;
