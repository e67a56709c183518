-- Which of these rows are in a state under their token: those another statement passed over because they were locked.
--   $1 ids  $2 lease tokens  $3 status
SELECT g.item
FROM   unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS g (ref, token, item)
       JOIN belfry.jobs j ON j.id = g.ref AND j.lease_token = g.token
WHERE  (j.status + 0) = $3::smallint;
