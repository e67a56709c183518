-- All installations, oldest first. If the last one was begun elsewhere, a new one is begun.
--   $1 clock offset  $2 its id
SELECT first_id, id, begun_at FROM belfry.installations_here($2::text, {now});
