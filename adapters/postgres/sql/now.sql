-- The store's clock.
--   $1 clock offset
SELECT {now};
