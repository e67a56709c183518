package postgres

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Get reads one job, in one statement over all tables: a job that is moving is found in one of them.
func (s *Store) Get(ctx context.Context, id int64) (core.Job, error) {
	found := core.Job{}
	err := s.read(ctx, "get", s.guard(glanceWait), s.sql.call("get", idArgs([]int64{id}), func(r wire.Row) error {
		found = job(r)
		return nil
	}))
	if err == nil && found.ID == 0 {
		err = wrap("get", core.ErrNotFound)
	}
	return found, err
}

// Ended returns the status of those ids that have ended.
func (s *Store) Ended(ctx context.Context, ids []int64) (map[int64]core.Status, error) {
	ended := map[int64]core.Status{}
	if len(ids) == 0 {
		return ended, nil
	}
	err := s.read(ctx, "ended", s.guard(glanceWait), s.sql.call("ended", idArgs(ids), func(r wire.Row) error {
		ended[r.Int(0)] = core.Status(r.Int(1))
		return nil
	}))
	return ended, err
}

func idArgs(ids []int64) *wire.Args {
	return wire.Int8s(wire.NewArgs(1), ids, func(id *int64) int64 { return *id })
}
