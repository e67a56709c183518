-- Move rows of the overflow history whose days have a partition by now.
--   $1 first instant of such days  $2 first instant after them  $3 most
WITH gone AS (
    DELETE FROM belfry.job_history_overflow
    WHERE  id = ANY (ARRAY(SELECT id FROM belfry.job_history_overflow WHERE finished_at >= $1::timestamptz AND finished_at < $2::timestamptz
                           LIMIT $3::bigint FOR UPDATE SKIP LOCKED))
      AND  finished_at >= $1 AND finished_at < $2
    RETURNING *
)
INSERT INTO belfry.job_history SELECT * FROM gone RETURNING id;
