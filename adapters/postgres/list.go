package postgres

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// List returns jobs newest id first; see core.JobStore.
func (s *Store) List(ctx context.Context, q core.ListQuery) (core.Page, error) {
	a := wire.NewArgs(9).Int8(int64(q.Limit))
	wire.Int2s(a, q.Statuses, func(st *core.Status) int16 { return int16(*st) })
	a.Text(q.Type).TextOrNull(q.Tenant).Int2(int16(q.Priority)).Text(q.Tag).Time(q.RunAfter).Time(q.RunBefore).Int8(q.Before)
	var jobs []core.Job
	err := s.run(ctx, "list", s.sql.call("list", a, func(r wire.Row) error {
		jobs = append(jobs, job(r))
		return nil
	}))
	return core.PageOf(jobs, q.Limit), err
}
