-- Jobs that match, the newest id first, wherever they are.
--   $1 most  $2 statuses or none  $3 type or ''  $4 tenant or null  $5 priority or 0  $6 tag or ''
--   $7 run_at from or null  $8 run_at before or null  $9 ids below or 0
(SELECT {live} FROM belfry.jobs
 WHERE  ($2::smallint[] = '{}' OR $2 && '{1,2,3}') AND ($2::smallint[] = '{}' OR status = ANY ($2)) AND ($3::text = '' OR type = $3) AND ($4::text IS NULL OR tenant = $4)
      AND  ($5::smallint = 0 OR priority = $5) AND ($6::text = '' OR $6 = ANY (tags))
      AND  ($7::timestamptz IS NULL OR run_at >= $7) AND ($8::timestamptz IS NULL OR run_at < $8)
      AND  ($9::bigint = 0 OR id < $9)
 ORDER  BY id DESC LIMIT $1::bigint)
UNION ALL
(SELECT {ended} FROM belfry.dead_letters
 WHERE  ($2::smallint[] = '{}' OR $2 && '{5}') AND ($2::smallint[] = '{}' OR status = ANY ($2)) AND ($3::text = '' OR type = $3) AND ($4::text IS NULL OR tenant = $4)
      AND  ($5::smallint = 0 OR priority = $5) AND ($6::text = '' OR $6 = ANY (tags))
      AND  ($7::timestamptz IS NULL OR run_at >= $7) AND ($8::timestamptz IS NULL OR run_at < $8)
      AND  ($9::bigint = 0 OR id < $9)
 ORDER  BY id DESC LIMIT $1::bigint)
UNION ALL
(SELECT {ended} FROM belfry.job_history
 WHERE  ($2::smallint[] = '{}' OR $2 && '{4,6}') AND ($2::smallint[] = '{}' OR status = ANY ($2)) AND ($3::text = '' OR type = $3) AND ($4::text IS NULL OR tenant = $4)
      AND  ($5::smallint = 0 OR priority = $5) AND ($6::text = '' OR $6 = ANY (tags))
      AND  ($7::timestamptz IS NULL OR run_at >= $7) AND ($8::timestamptz IS NULL OR run_at < $8)
      AND  ($9::bigint = 0 OR id < $9)
 ORDER  BY id DESC LIMIT $1::bigint)
UNION ALL
(SELECT {ended} FROM belfry.job_history_overflow
 WHERE  ($2::smallint[] = '{}' OR $2 && '{4,6}') AND ($2::smallint[] = '{}' OR status = ANY ($2)) AND ($3::text = '' OR type = $3) AND ($4::text IS NULL OR tenant = $4)
      AND  ($5::smallint = 0 OR priority = $5) AND ($6::text = '' OR $6 = ANY (tags))
      AND  ($7::timestamptz IS NULL OR run_at >= $7) AND ($8::timestamptz IS NULL OR run_at < $8)
      AND  ($9::bigint = 0 OR id < $9)
 ORDER  BY id DESC LIMIT $1::bigint)
ORDER BY id DESC
LIMIT $1::bigint;
