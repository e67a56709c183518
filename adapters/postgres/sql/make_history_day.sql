-- Make the history partition of a day, unless it is there.
--   $1 day, as 2006-01-02
SELECT belfry.make_history_day($1::text::date);
