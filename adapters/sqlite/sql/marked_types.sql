-- Types that are marked as unhandled or were announced by programs of before, of which there are few or none.
SELECT type, unhandled_until, unhandled_wait, announced_at IS NOT NULL, target IS NOT NULL OR delivered = 1
FROM   job_types WHERE (unhandled_until > 0 OR announced_at IS NOT NULL)
