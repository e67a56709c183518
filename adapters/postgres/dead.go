package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// Retry puts a dead letter back; see core.JobStore.
func (s *Store) Retry(ctx context.Context, id int64) (core.Job, error) {
	for range changeRounds {
		redriven, err := s.redrive(ctx, "retry", waitingSuffix, core.DeadQuery{IDs: []int64{id}}, 1, core.Pace{}, func(calls ...wire.Call) error {
			return s.write(ctx, "retry", jobSubject(id), calls...)
		})
		if errors.Is(err, core.ErrRow) {
			err = errors.Join(err, s.SetApart(ctx, []core.RowFault{deadLetter{id: id}.fault("retry", err)}))
		}
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

// Redrive retries dead letters; those locked by another are left for the next call. It is one transaction, unless one of
// them cannot be put back for an error of its own, or a dedupe key that an open transaction holds.
func (s *Store) Redrive(ctx context.Context, q core.DeadQuery, limit int, pace core.Pace) ([]core.Redriven, error) {
	list, err := s.redriveOnce(ctx, q, limit, pace)
	if stops(err) {
		return s.redriveApart(ctx, q, limit, pace)
	}
	return list, err
}

// redriveOnce is Redrive in one transaction, that waits for nobody for long.
func (s *Store) redriveOnce(ctx context.Context, q core.DeadQuery, limit int, pace core.Pace) ([]core.Redriven, error) {
	return s.redrive(ctx, "redrive", "", q, limit, pace, func(calls ...wire.Call) error {
		return wrap("redrive", s.sendAs(ctx, changeShare, false, calls...))
	})
}

func (s *Store) redrive(ctx context.Context, act, suffix string, q core.DeadQuery, limit int, pace core.Pace, send func(...wire.Call) error) ([]core.Redriven, error) {
	var list []core.Redriven
	var left []int
	args := s.deadArgs(q, limit).Time(pace.From).Interval(pace.Every)
	err := send(s.guard(glanceWait),
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

// Discard deletes dead letters, in one transaction unless one of them cannot be deleted.
func (s *Store) Discard(ctx context.Context, q core.DeadQuery, limit int) (core.Discarded, error) {
	gone, err := s.discardOnce(ctx, q, limit)
	if errors.Is(err, core.ErrRow) {
		return s.discardApart(ctx, q, limit)
	}
	return gone, err
}

func (s *Store) discardOnce(ctx context.Context, q core.DeadQuery, limit int) (gone core.Discarded, err error) {
	err = s.write(ctx, "discard", "", s.guard(glanceWait), s.sql.call(deadName("discard", q), s.deadArgs(q, limit), func(r wire.Row) error {
		gone.N++
		gone.After = max(gone.After, r.Int(0))
		return nil
	}))
	if err != nil {
		return core.Discarded{}, err
	}
	return gone, nil
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

// maxLeft bounds how many dead letters one call finds and leaves that raise an error or whose dedupe key an open transaction
// holds. The next call goes on behind them.
const maxLeft = 16

// errLeftEnough ends a call that has found maxLeft.
var errLeftEnough = errors.New("as many dead letters are left as one call finds")

// deadLetter is what names a dead letter.
type deadLetter struct {
	id  int64
	typ string
}

func (d deadLetter) fault(act string, err error) core.RowFault {
	return core.RowFault{Kind: core.ApartDead, ID: d.id, About: d.typ, Act: act, Error: faultText(err)}
}

// deadIDs are the dead letters that match, the lowest id first.
func (s *Store) deadIDs(ctx context.Context, act string, q core.DeadQuery, limit int) (letters []deadLetter, err error) {
	err = s.read(ctx, act, s.guard(glanceWait), s.sql.call(deadName("dead_ids", q), s.deadArgs(q, limit), func(r wire.Row) error {
		letters = append(letters, deadLetter{r.Int(0), r.Text(1)})
		return nil
	}))
	return letters, err
}

// stops reports whether an error may be about one dead letter alone: it raises it, or somebody holds its dedupe key.
func stops(err error) bool { return errors.Is(err, core.ErrRow) || errors.Is(err, core.ErrBusy) }

// divisible makes of an error that stops a dead letter one on which apart.Halve divides.
func divisible(err error) error {
	if err == nil || errors.Is(err, core.ErrRow) || !stops(err) {
		return err
	}
	return fmt.Errorf("%w: %w", core.ErrRow, err)
}

// redriveApart is Redrive where one dead letter or more cannot be put back: those are found and reported, and the others
// go on at the same pace.
func (s *Store) redriveApart(ctx context.Context, q core.DeadQuery, limit int, pace core.Pace) (list []core.Redriven, err error) {
	letters, err := s.deadIDs(ctx, "redrive", q, limit)
	if err != nil {
		return nil, err
	}
	from, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	if pace.From.After(from) {
		from = pace.From
	}
	places := make([]int, len(letters))
	for i := range places {
		places[i] = i
	}
	left := 0
	err = apart.Halve(ctx, places, func(part []int) error {
		ids := make([]int64, len(part))
		for i, place := range part {
			ids[i] = letters[place].id
		}
		start := core.Pace{From: from.Add(time.Duration(part[0]) * pace.Every), Every: pace.Every}
		got, err := s.redriveOnce(ctx, core.DeadQuery{IDs: ids}, len(ids), start)
		list = append(list, got...)
		return divisible(err)
	}, func(place int, err error) error {
		if left++; left > maxLeft {
			return errLeftEnough
		}
		letter := letters[place]
		list = append(list, core.Redriven{ID: letter.id, Err: err})
		if errors.Is(err, core.ErrBusy) {
			return nil
		}
		return s.SetApart(ctx, []core.RowFault{letter.fault("redrive", err)})
	})
	switch {
	case !errors.Is(err, errLeftEnough):
		return list, err
	case len(list) == maxLeft && errors.Is(list[0].Err, core.ErrBusy):
		return nil, list[0].Err // nothing goes: somebody holds more than a key
	}
	return list, nil
}

// discardApart is Discard where one dead letter or more cannot be deleted: those are found, and the others are deleted, also
// those behind them.
func (s *Store) discardApart(ctx context.Context, q core.DeadQuery, limit int) (gone core.Discarded, err error) {
	for gone.N < limit {
		letters, err := s.deadIDs(ctx, "discard", q, limit-gone.N)
		if err != nil || len(letters) == 0 {
			return gone, err
		}
		err = apart.Halve(ctx, letters, func(part []deadLetter) error {
			ids := make([]int64, len(part))
			for i, letter := range part {
				ids[i] = letter.id
			}
			done, err := s.discardOnce(ctx, core.DeadQuery{IDs: ids}, len(ids))
			if err == nil {
				gone.N, gone.After = gone.N+done.N, ids[len(ids)-1]
			}
			return err
		}, func(letter deadLetter, err error) error {
			if len(gone.Left) == maxLeft {
				return errLeftEnough
			}
			gone.Left, gone.After = append(gone.Left, letter.id), letter.id
			return s.SetApart(ctx, []core.RowFault{letter.fault("discard", err)})
		})
		if errors.Is(err, errLeftEnough) {
			return gone, nil
		}
		if err != nil {
			return gone, err
		}
		q.After = letters[len(letters)-1].id
	}
	return gone, nil
}
