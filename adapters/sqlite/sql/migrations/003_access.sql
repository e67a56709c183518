-- Bearer tokens: of each only its SHA-256 is kept.
CREATE TABLE tokens (
	id         TEXT    PRIMARY KEY,
	name       TEXT    NOT NULL,
	hash       BLOB    NOT NULL,
	role       TEXT    NOT NULL,
	tenant     TEXT    NOT NULL DEFAULT '', -- '' means all
	created_at INTEGER NOT NULL,
	expires_at INTEGER                      -- NULL means never
) STRICT, WITHOUT ROWID;

-- Answers to be given again, compressed.
CREATE TABLE idempotency_keys (
	holder     TEXT    NOT NULL,
	key        TEXT    NOT NULL,
	hash       BLOB    NOT NULL, -- of what was asked
	status     INTEGER NOT NULL,
	answer     BLOB    NOT NULL,
	expires_at INTEGER NOT NULL,
	UNIQUE (holder, key)
) STRICT;

CREATE INDEX idempotency_keys_expires ON idempotency_keys (expires_at);
