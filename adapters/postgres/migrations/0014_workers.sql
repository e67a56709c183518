-- Workers that are there, with what they handle; jobs that came back from workers without a handler are counted; totals
-- know when they last rose.
-- belfry:oldest 8

CREATE TABLE IF NOT EXISTS belfry.workers (
    id        text COLLATE "C" NOT NULL PRIMARY KEY,
    host      text NOT NULL DEFAULT '',
    version   text NOT NULL DEFAULT '',
    function  boolean NOT NULL DEFAULT false, -- it lives only while there is work
    queues    boolean NOT NULL DEFAULT false, -- it receives from queues; else it claims from the table
    delivers  boolean NOT NULL DEFAULT false, -- it delivers jobs to targets
    types     text[] COLLATE "C" NOT NULL DEFAULT '{}',
    types_key text COLLATE "C" NOT NULL DEFAULT '', -- equal where types are
    slots     integer NOT NULL DEFAULT 0,
    busy      integer NOT NULL DEFAULT 0,
    since     timestamptz NOT NULL,
    seen_at   timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

-- Marks and the announcements of programs of before, of which there are few or none.
CREATE INDEX IF NOT EXISTS job_types_marked ON belfry.job_types (type) WHERE unhandled_until IS NOT NULL OR announced_at IS NOT NULL;

-- belfry:step
ALTER TABLE belfry.rollups ADD COLUMN IF NOT EXISTS strayed bigint NOT NULL DEFAULT 0;

-- belfry:step
ALTER TABLE belfry.rollup_totals
    ADD COLUMN IF NOT EXISTS strayed bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS last_minute timestamptz NOT NULL DEFAULT now();
