-- Bearer tokens and idempotency keys.

-- Of a token only its SHA-256 is kept; its text was shown once.
CREATE TABLE belfry.tokens (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    name       text NOT NULL,
    hash       bytea NOT NULL,
    role       text NOT NULL,
    tenant     text COLLATE "C" NOT NULL DEFAULT '',  -- '': all
    created_at timestamptz NOT NULL,
    expires_at timestamptz                            -- null: never
);

-- Answers to be given again. They come compressed, so that the server need not try.
CREATE TABLE belfry.idempotency_keys (
    holder     text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    hash       bytea NOT NULL,  -- of what was asked
    status     integer NOT NULL,
    answer     bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (holder, key)
);
ALTER TABLE belfry.idempotency_keys ALTER COLUMN answer SET STORAGE EXTERNAL;
CREATE INDEX idempotency_keys_expires ON belfry.idempotency_keys (expires_at);
