-- Types from which a success is expected.
SELECT type FROM belfry.job_types WHERE expect_within IS NOT NULL ORDER BY type;
