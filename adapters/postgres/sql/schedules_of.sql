-- Some of the schedules that due_schedules lists.
--   $1 ids
SELECT {due_schedule} FROM belfry.schedules s WHERE s.id = ANY ($1::bigint[]) ORDER BY s.next_due, s.id;
