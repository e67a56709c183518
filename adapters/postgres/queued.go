package postgres

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// CountQueued counts the queued rows by one statement.
func (s *Store) CountQueued(ctx context.Context, types bool) (queued core.QueuedCount, err error) {
	if !types {
		call := s.countQueued(func(p core.Priority, n int) { queued.Priorities[p-1] = n })
		err = s.repeat(ctx, "count queued", s.guard(s.opts.LockTimeout), call)
		return queued, err
	}
	counts := map[core.QueuedType]int{} // a repeat finds the same lanes again
	call := s.countQueuedTypes(func(t core.QueuedType) { counts[core.QueuedType{Priority: t.Priority, Type: t.Type}] = t.N })
	err = s.repeat(ctx, "count queued types", s.guard(s.opts.LockTimeout), call)
	for lane, n := range counts {
		lane.N = n
		queued.Types = append(queued.Types, lane)
		queued.Priorities[lane.Priority-1] = min(queued.Priorities[lane.Priority-1]+n, core.CountCap)
	}
	return queued, err
}

func (s *Store) countQueuedTypes(found func(core.QueuedType)) wire.Call {
	return s.sql.call("count_queued_types", wire.NewArgs(1).Int8(core.CountCap*int64(len(core.Priorities))), func(r wire.Row) error {
		if p := core.Priority(r.Int(0)); p.Valid() {
			found(core.QueuedType{Priority: p, Type: r.Text(1), N: int(r.Int(2))})
		}
		return nil
	})
}

func (s *Store) countQueued(found func(core.Priority, int)) wire.Call {
	return s.sql.call("count_queued", wire.NewArgs(1).Int8(core.CountCap*int64(len(core.Priorities))), func(r wire.Row) error {
		if p := core.Priority(r.Int(0)); p.Valid() {
			found(p, int(min(r.Int(1), core.CountCap)))
		}
		return nil
	})
}
