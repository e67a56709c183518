-- Remove a token.
--   $1 id
DELETE FROM belfry.tokens WHERE id = $1::text RETURNING id;
