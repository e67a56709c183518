package postgres

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Installations returns the installations; see core.InstallationStore. Another one is begun where rows were restored or
// copied into another table, database or cluster, and after a failover or a recovery to a point in time, which begin a
// timeline.
func (s *Store) Installations(ctx context.Context) (list []core.Installation, err error) {
	err = s.run(ctx, "installations", s.guard(s.opts.LockTimeout),
		s.sql.call("installations", s.args(1).Text(core.NewInstallationID()), func(r wire.Row) error {
			list = append(list, core.Installation{FirstID: r.Int(0), ID: r.Text(1), BegunAt: r.Time(2)})
			return nil
		}))
	return list, err
}
