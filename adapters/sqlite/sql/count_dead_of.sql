-- How many dead letters a tenant has, up to a limit. Of those without a tenant, the ones among the newest up to the limit.
--   ?1 tenant   ?2 limit
SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM dead_letters INDEXED BY dead_letters_tenant WHERE tenant = ?1 AND tenant <> '' LIMIT ?2))
     + (SELECT COUNT(*) FROM (SELECT tenant FROM dead_letters WHERE ?1 = '' ORDER BY id DESC LIMIT ?2) WHERE tenant = '')
