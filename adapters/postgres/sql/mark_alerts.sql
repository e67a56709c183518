-- Note which events of alerts were published.
--   $1 ids  $2 events: 1 raised, 2 cleared too
UPDATE belfry.alerts a SET sent = greatest(a.sent, g.sent)
FROM   unnest($1::bigint[], $2::smallint[]) AS g (id, sent)
WHERE  a.id = g.id;
