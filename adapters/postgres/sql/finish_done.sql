-- End attempts as done, where no one else has the rows: it waits for a lock, up to the lock timeout, and then fails.
-- Rows that do not come back were not running under that token.
--   $1 clock offset  $2 ids, ascending  $3 lease tokens  $4 results
WITH gone AS (
    DELETE FROM belfry.jobs j
    USING  unnest($2::bigint[], $3::bigint[], $4::json[]) AS g (ref, token, result)
    WHERE  j.id = g.ref AND j.lease_token = g.token AND (j.status + 0) = 3
    RETURNING {j.attempt}, j.errors, g.result
)
INSERT INTO belfry.{history} ({record}, result, status, finished_at)
SELECT g.*, 4, {now} FROM gone g
RETURNING id, ended_token;
