-- Fold the totals of types of which nothing has been counted for long into those of type '', which keep the sums by priority.
--   $1 clock offset  $2 how long  $3 most
WITH idle AS (
    DELETE FROM belfry.rollup_totals
    WHERE  ctid = ANY (ARRAY(SELECT ctid FROM belfry.rollup_totals WHERE type <> '' AND last_minute < {now} - $2::interval
                             ORDER BY priority, type LIMIT $3::bigint FOR UPDATE SKIP LOCKED))
    RETURNING *
), folded AS (
    INSERT INTO belfry.rollup_totals AS r (priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum, strayed, last_minute)
    SELECT priority, '', {sum starts}, {sum done}, {sum failed}, {sum retried}, {sum cancelled},
           {sum lost}, {sum snoozed}, belfry.add_up(lag), {sum lag_sum}, {sum strayed}, max(last_minute)
    FROM   idle
    GROUP  BY priority
    ORDER  BY priority
    ON CONFLICT (priority, type) DO UPDATE
    SET    starts = {add starts},
       done = {add done},
       failed = {add failed},
       retried = {add retried},
       cancelled = {add cancelled},
       lost = {add lost},
       snoozed = {add snoozed},
       lag_sum = {add lag_sum},
       strayed = {add strayed},
       last_minute = greatest(r.last_minute, excluded.last_minute),
       lag = belfry.add_up(r.lag, excluded.lag)
)
SELECT priority FROM idle;
