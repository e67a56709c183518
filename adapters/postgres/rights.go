package postgres

import (
	"context"
	"fmt"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Texts that name the rights this role lacks; ” for none. Partitions can be made by the owner of their table only.
const (
	missingToWrite = `array_to_string(ARRAY(
           SELECT r.name || ' ON TABLE belfry.jobs' FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r (name) WHERE NOT has_table_privilege('belfry.jobs', r.name)
           UNION ALL SELECT 'USAGE ON SEQUENCE belfry.job_ids' WHERE NOT has_sequence_privilege('belfry.job_ids', 'USAGE')), ', ')`
	missingToMaintain = `array_to_string(ARRAY(
           SELECT 'CREATE ON SCHEMA belfry' WHERE NOT has_schema_privilege('belfry', 'CREATE')
           UNION ALL SELECT 'membership of the role that owns ' || t.name FROM unnest(ARRAY['belfry.job_history', 'belfry.occurrences']) AS t (name)
                     JOIN pg_class c ON c.oid = t.name::regclass WHERE NOT pg_has_role(c.relowner, 'USAGE')), ', ')`
)

// lackOf is the error of a role that lacks rights.
func lackOf(rights, what string) error {
	return core.Advise(core.ErrReadOnly, fmt.Sprintf("the database role of this process may not %s: it lacks %s", what, rights))
}

// What a role without a right may not do, in words.
const (
	doWrite    = "write jobs"
	doMaintain = "make the tables of the days to come"
)

// checkMaintainRights says at once, and not on the day when a partition is missing, that this role can make none.
func (s *Store) checkMaintainRights(ctx context.Context) error {
	s.maintains.Store(true)
	return s.repeat(ctx, "maintain", s.sql.call("maintain_rights", wire.NewArgs(0), func(r wire.Row) error {
		if rights := r.Text(0); rights != "" {
			return lackOf(rights, doMaintain)
		}
		return nil
	}))
}
