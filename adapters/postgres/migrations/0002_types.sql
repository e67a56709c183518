-- What is known of types beside announcements: definitions, and marks on types whose jobs bring targets of their own.
-- And secrets of the installation, which its processes share.

ALTER TABLE belfry.job_types
    ADD COLUMN defined_at   timestamptz,                    -- NULL: there is no definition
    ADD COLUMN updated_at   timestamptz,
    ADD COLUMN delivered    boolean NOT NULL DEFAULT false, -- jobs of the type bring targets of their own
    ADD COLUMN target       json,
    ADD COLUMN timeout      bigint,
    ADD COLUMN max_attempts integer,
    ADD COLUMN backoff      bigint[];

CREATE INDEX job_types_kept ON belfry.job_types (type) WHERE defined_at IS NOT NULL OR delivered;

CREATE TABLE belfry.secrets (
    name       text COLLATE "C" NOT NULL PRIMARY KEY,
    value      bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
