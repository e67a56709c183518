-- What is known of types beside announcements: definitions, and marks on types whose jobs bring targets of their own.
-- And secrets of the installation, which its processes share.

ALTER TABLE job_types ADD COLUMN defined_at INTEGER;                   -- NULL: there is no definition
ALTER TABLE job_types ADD COLUMN updated_at INTEGER;
ALTER TABLE job_types ADD COLUMN delivered INTEGER NOT NULL DEFAULT 0; -- 1: jobs of the type bring targets of their own
ALTER TABLE job_types ADD COLUMN target TEXT;
ALTER TABLE job_types ADD COLUMN timeout INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_types ADD COLUMN max_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_types ADD COLUMN backoff TEXT;                         -- JSON array of microseconds

CREATE INDEX job_types_kept ON job_types (type) WHERE defined_at IS NOT NULL OR delivered = 1;

CREATE TABLE secrets (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
