package postgres

import (
	"context"
	"errors"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Retry puts a dead letter back; see core.JobStore.
func (s *Store) Retry(ctx context.Context, id int64) (core.Job, error) {
	for range changeRounds {
		redriven, err := s.redrive(ctx, "retry", waitingSuffix, core.DeadQuery{IDs: []int64{id}}, 1)
		if err != nil {
			return core.Job{}, err
		}
		if len(redriven) == 1 {
			var conflict *core.ConflictError
			if errors.As(redriven[0].Err, &conflict) && conflict.Other == 0 {
				continue // the key came free
			}
			if err := redriven[0].Err; err != nil {
				return core.Job{}, wrap("retry", err)
			}
			return s.Get(ctx, id)
		}
		found, err := s.Get(ctx, id)
		if err != nil {
			return core.Job{}, err
		}
		if found.Status != core.Failed {
			return core.Job{}, wrap("retry", &core.ConflictError{Job: found, Act: "retry"})
		}
	}
	return core.Job{}, wrap("retry", core.ErrBusy)
}

// Redrive retries dead letters in one transaction; those locked by another are left for the next call.
func (s *Store) Redrive(ctx context.Context, q core.DeadQuery, limit int, _ core.Pace) ([]core.Redriven, error) {
	return s.redrive(ctx, "redrive", "", q, limit)
}

func (s *Store) redrive(ctx context.Context, act, suffix string, q core.DeadQuery, limit int) ([]core.Redriven, error) {
	var list []core.Redriven
	var left []int
	err := s.run(ctx, act, s.guard(s.opts.LockTimeout),
		s.sql.call("redrive"+suffix, deadArgs(s.args(5).Int8(int64(limit)), q), func(r wire.Row) error {
			if r.Null(1) {
				left = append(left, len(list))
			}
			list = append(list, core.Redriven{ID: r.Int(0)})
			return nil
		}))
	if err != nil {
		return nil, err
	}
	for _, i := range left {
		conflict, err := s.keyConflict(ctx, list[i].ID)
		if err != nil {
			return list, err
		}
		list[i].Err = conflict
	}
	return list, nil
}

// keyConflict says which live job holds the key of a dead letter that could not be put back. Where the key came
// free meanwhile Other is 0, and so it is where the dead letter itself has gone.
func (s *Store) keyConflict(ctx context.Context, id int64) (*core.ConflictError, error) {
	found, err := s.Get(ctx, id)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	conflict := &core.ConflictError{Job: found, Act: "retry"}
	err = s.run(ctx, "retry", s.guard(s.opts.LockTimeout), s.sql.call("key_holder", wire.NewArgs(1).Int8(id), func(r wire.Row) error {
		conflict.Other = r.Int(0)
		return nil
	}))
	return conflict, err
}

// Discard deletes dead letters.
func (s *Store) Discard(ctx context.Context, q core.DeadQuery, limit int) (n int, err error) {
	err = s.run(ctx, "discard", s.sql.call("discard", deadArgs(wire.NewArgs(5).Int8(int64(limit)), q), func(wire.Row) error {
		n++
		return nil
	}))
	return n, err
}

// CountDead counts dead letters.
func (s *Store) CountDead(ctx context.Context, q core.DeadQuery) (n int, err error) {
	err = s.run(ctx, "count dead", s.sql.call("count_dead", deadArgs(wire.NewArgs(4), q), func(r wire.Row) error {
		n = int(r.Int(0))
		return nil
	}))
	return n, err
}

func deadArgs(a *wire.Args, q core.DeadQuery) *wire.Args {
	a.Text(q.Type).TextOrNull(q.Tenant)
	return wire.Int8s(a, q.IDs, func(id *int64) int64 { return *id }).Time(q.Before)
}
