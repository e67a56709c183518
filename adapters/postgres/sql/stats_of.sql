-- The store's clock and the dead letters of one tenant, up to a cap. Of those without a tenant, the ones among the
-- newest dead letters up to the cap.
--   $1 clock offset  $2 cap  $3 tenant
SELECT {now},
       (SELECT count(*) FROM (SELECT FROM belfry.dead_letters WHERE tenant = $3::text AND tenant <> '' ORDER BY (id + 0) LIMIT $2::bigint) c)
     + (SELECT count(*) FROM (SELECT tenant FROM belfry.dead_letters WHERE $3 = '' ORDER BY id DESC LIMIT $2) c WHERE tenant = '');
