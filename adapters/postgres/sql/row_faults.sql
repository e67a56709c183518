-- Which of these jobs raise an error when they are dispatched, started or beaten for.
--   $1 ids  $2 act
SELECT id, type, code, error FROM belfry.row_faults($1::bigint[], $2::text);
