-- Act as the owner until the transaction ends.
--   {owner} its name
SET LOCAL ROLE "{owner}";
