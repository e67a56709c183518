-- How many types are kept: definitions and marks.
SELECT COUNT(*) FROM job_types WHERE defined_at IS NOT NULL OR delivered = 1
