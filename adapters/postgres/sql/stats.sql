-- The store's clock, dead letters, running jobs whose lease has passed, rows in the overflow history (each up to a cap)
-- and the age of the oldest snapshot another session of this database holds, as far as it may be seen.
--   $1 clock offset  $2 cap
SELECT {now},
       (SELECT count(*) FROM (SELECT FROM belfry.dead_letters LIMIT $2::bigint) c),
       (SELECT count(*) FROM (SELECT FROM belfry.jobs WHERE status = 3 AND reap_at <= {now} AND {passed}
                              UNION ALL
                              SELECT FROM belfry.jobs WHERE status = 3 AND reap_at > {never} AND {passed} LIMIT $2) c),
       (SELECT count(*) FROM (SELECT FROM belfry.job_history_overflow LIMIT $2) c),
       coalesce((SELECT (extract(epoch FROM max(clock_timestamp() - xact_start)) * 1000000)::bigint
                 FROM   pg_stat_activity
                 WHERE  datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL), 0);
