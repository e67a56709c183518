-- Whether notes of failures wait.
SELECT EXISTS (SELECT FROM belfry.failure_notes ORDER BY id);
