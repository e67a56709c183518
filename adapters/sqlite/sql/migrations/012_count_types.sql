-- How many types are kept, definitions and marks, so that one more is not counted by reading all of them. Triggers keep
-- the number, whichever program writes.
-- belfry:oldest 7

INSERT INTO meta (name, value) SELECT 'types_kept', COUNT(*) FROM job_types WHERE defined_at IS NOT NULL OR delivered = 1;

CREATE TRIGGER job_types_kept_insert AFTER INSERT ON job_types WHEN new.defined_at IS NOT NULL OR new.delivered = 1
BEGIN
	UPDATE meta SET value = value + 1 WHERE name = 'types_kept';
END;

CREATE TRIGGER job_types_kept_update AFTER UPDATE OF defined_at, delivered ON job_types
WHEN (old.defined_at IS NOT NULL OR old.delivered = 1) <> (new.defined_at IS NOT NULL OR new.delivered = 1)
BEGIN
	UPDATE meta SET value = value + CASE WHEN new.defined_at IS NOT NULL OR new.delivered = 1 THEN 1 ELSE -1 END WHERE name = 'types_kept';
END;

CREATE TRIGGER job_types_kept_delete AFTER DELETE ON job_types WHEN old.defined_at IS NOT NULL OR old.delivered = 1
BEGIN
	UPDATE meta SET value = value - 1 WHERE name = 'types_kept';
END;
