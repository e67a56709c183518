package postgres

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// CountQueued counts the queued rows of each priority, as a tick does, up to core.CountCap, for publishers that are no
// scheduler.
func (s *Store) CountQueued(ctx context.Context) (map[core.Priority]int, error) {
	queued := map[core.Priority]int{}
	err := s.repeat(ctx, "count queued", s.guard(s.opts.LockTimeout), s.countQueued(func(p core.Priority, n int) { queued[p] = n }))
	return queued, err
}

// CountQueuedTypes is CountQueued by priority and type, for types with queues of their own.
func (s *Store) CountQueuedTypes(ctx context.Context) (queued []core.QueuedType, err error) {
	err = s.repeat(ctx, "count queued types", s.guard(s.opts.LockTimeout), s.countQueuedTypes(func(t core.QueuedType) { queued = append(queued, t) }))
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
