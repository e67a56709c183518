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
		redriven, err := s.redrive(ctx, "retry", waitingSuffix, core.DeadQuery{IDs: []int64{id}}, 1, core.Pace{})
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
func (s *Store) Redrive(ctx context.Context, q core.DeadQuery, limit int, pace core.Pace) ([]core.Redriven, error) {
	return s.redrive(ctx, "redrive", "", q, limit, pace)
}

func (s *Store) redrive(ctx context.Context, act, suffix string, q core.DeadQuery, limit int, pace core.Pace) ([]core.Redriven, error) {
	var list []core.Redriven
	var left []int
	args := s.deadArgs(q, limit).Time(pace.From).Interval(pace.Every)
	subject := ""
	if len(q.IDs) == 1 {
		subject = jobSubject(q.IDs[0])
	}
	err := s.write(ctx, act, subject, s.guard(glanceWait),
		s.sql.call(deadName("redrive"+suffix, q), args, func(r wire.Row) error {
			one := core.Redriven{ID: r.Int(0)}
			if r.Null(1) {
				left = append(left, len(list))
			} else {
				one.RunAt = r.Time(2)
			}
			list = append(list, one)
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
	err = s.read(ctx, "retry", s.guard(glanceWait), s.sql.call("key_holder", wire.NewArgs(1).Int8(id), func(r wire.Row) error {
		conflict.Other = r.Int(0)
		return nil
	}))
	return conflict, err
}

// Discard deletes dead letters.
func (s *Store) Discard(ctx context.Context, q core.DeadQuery, limit int) (n int, err error) {
	err = s.write(ctx, "discard", "", s.guard(glanceWait), s.sql.call(deadName("discard", q), s.deadArgs(q, limit), func(wire.Row) error {
		n++
		return nil
	}))
	return n, err
}

// CountDead counts dead letters.
func (s *Store) CountDead(ctx context.Context, q core.DeadQuery) (n int, err error) {
	err = s.read(ctx, "count dead", s.guard(glanceWait), s.sql.call(deadName("count_dead", q), s.deadArgs(q, core.CountCap), func(r wire.Row) error {
		n = int(r.Int(0))
		return nil
	}))
	return n, err
}

// DeadGroups counts dead letters that failed alike.
func (s *Store) DeadGroups(ctx context.Context, q core.DeadQuery, limit int) (groups []core.DeadGroup, err error) {
	args := s.deadArgs(q, core.CountCap).Int8(int64(max(limit, 0)))
	err = s.read(ctx, "dead groups", s.guard(glanceWait), s.sql.call(deadName("dead_groups", q), args, func(r wire.Row) error {
		g := core.DeadGroup{Type: r.Text(0), Group: r.Text(1), Count: int(r.Int(2)), First: r.Time(3), Last: r.Time(4)}
		if errs := attemptErrors(r[5]); len(errs) > 0 {
			g.Error = errs[len(errs)-1].Error
		}
		groups = append(groups, g)
		return nil
	}))
	return groups, err
}

// deadName names the form of a statement that goes the best way to the dead letters of q.
func deadName(name string, q core.DeadQuery) string { return name + "_" + string(deadWay(q)) }

// deadArgs begins the parameters of a statement on dead letters.
func (s *Store) deadArgs(q core.DeadQuery, most int) *wire.Args {
	a := s.args(9).Int8(int64(max(most, 0))).Text(q.Type).TextOrNull(q.Tenant)
	return wire.Int8s(a, q.IDs, func(id *int64) int64 { return *id }).Time(q.Before).Text(q.Group).Int8(q.After)
}
