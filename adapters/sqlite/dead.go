package sqlite

import (
	"context"
	"errors"

	"github.com/belfry-dev/belfry/core"
)

// Retry puts a dead letter back among the waiting jobs.
func (s *Store) Retry(ctx context.Context, id int64) (core.Job, error) {
	var job core.Job
	err := s.writer.run(ctx, func(t *tx) error {
		if err := t.retry(id, t.now); err != nil {
			return err
		}
		now, err := t.row("get_live", id)
		if err != nil {
			return err
		}
		job = now.job()
		return nil
	})
	if err != nil {
		return core.Job{}, wrap("retry", err)
	}
	return job, nil
}

// retry answers ErrNotFound or a *core.ConflictError where the job cannot be put back; it has then changed
// nothing.
func (t *tx) retry(id, runAt int64) error {
	dead, err := t.row("get_dead", id)
	if err != nil {
		return err
	}
	if dead == nil {
		other, err := t.row("get", id)
		if err != nil {
			return err
		}
		if other == nil {
			return core.ErrNotFound
		}
		return &core.ConflictError{Job: other.job(), Act: "retry"}
	}
	if key := dead.text(colDedupeKey); key != "" {
		holder, err := t.dedupe(dead.text(colTenant), key)
		if err != nil {
			return err
		}
		if holder != nil {
			return &core.ConflictError{Job: dead.job(), Other: holder.ID, Act: "retry"}
		}
	}
	if _, err := t.exec("retry", id, runAt); err != nil {
		return err
	}
	_, err = t.exec("delete_dead", id)
	return err
}

// Redrive retries the dead letters that match, lowest id first.
func (s *Store) Redrive(ctx context.Context, q core.DeadQuery, limit int, pace core.Pace) ([]core.Redriven, error) {
	var redriven []core.Redriven
	err := s.carefully(ctx, func(t *tx) error {
		redriven = nil
		list, err := t.deadIDs(q, limit)
		if err != nil {
			return err
		}
		from := t.now
		if !pace.From.IsZero() {
			from = max(from, micros(pace.From))
		}
		for i, id := range list {
			one := core.Redriven{ID: id}
			runAt := from + int64(i)*pace.Every.Microseconds()
			var conflict error
			done, err := t.alone(deadFault(id, "redrive"), func() error {
				err := t.retry(id, runAt)
				if conflict = nil; errors.Is(err, core.ErrConflict) {
					conflict, err = err, nil
				}
				return err
			})
			switch {
			case err != nil:
				return err
			case !done:
				one.Err = core.ErrRow
			case conflict != nil:
				one.Err = conflict
			default:
				one.RunAt = instant(runAt)
			}
			redriven = append(redriven, one)
		}
		return nil
	})
	if err != nil {
		return nil, wrap("redrive", err)
	}
	return redriven, nil
}

// maxLeft bounds how many dead letters one Discard finds that cannot be deleted. The next one goes on behind them.
const maxLeft = 16

// Discard deletes dead letters that match. Those that cannot be deleted are passed over.
func (s *Store) Discard(ctx context.Context, q core.DeadQuery, limit int) (core.Discarded, error) {
	var gone core.Discarded
	err := s.carefully(ctx, func(t *tx) error {
		gone = core.Discarded{}
		for q := q; gone.N < limit && len(gone.Left) < maxLeft; q.After = gone.After {
			list, err := t.deadIDs(q, limit-gone.N)
			if err != nil || len(list) == 0 {
				return err
			}
			if err := t.discard(list, &gone); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return core.Discarded{}, wrap("discard", err)
	}
	return gone, nil
}

// discard deletes dead letters by one statement, or in a careful operation one by one, until maxLeft are left.
func (t *tx) discard(list []int64, gone *core.Discarded) error {
	if !t.careful {
		deleted, err := t.exec("discard", ids(list))
		gone.N, gone.After = gone.N+int(deleted), list[len(list)-1]
		return err
	}
	for _, id := range list {
		if len(gone.Left) == maxLeft {
			return nil
		}
		done, err := t.alone(deadFault(id, "discard"), func() error {
			_, err := t.exec("discard", ids([]int64{id}))
			return err
		})
		if err != nil {
			return err
		}
		if gone.After = id; done {
			gone.N++
		} else {
			gone.Left = append(gone.Left, id)
		}
	}
	return nil
}

func deadFault(id int64, act string) core.RowFault {
	return core.RowFault{Kind: core.ApartDead, ID: id, Act: act}
}

// CountDead counts the dead letters that match.
func (s *Store) CountDead(ctx context.Context, q core.DeadQuery) (int, error) {
	var n int64
	err := s.readers.read(ctx, func(c *conn) (err error) {
		n, _, err = c.number(ctx, deadName("count_dead", q), deadArgs(q, core.CountCap)...)
		return err
	})
	return int(n), wrap("count dead", err)
}

// DeadGroups counts dead letters that failed alike.
func (s *Store) DeadGroups(ctx context.Context, q core.DeadQuery, limit int) (groups []core.DeadGroup, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, deadName("dead_groups", q), func(r row) error {
			g := core.DeadGroup{Type: r.text(0), Group: r.text(1), Count: int(r.int(2)), First: r.time(3), Last: r.time(4)}
			if errs := decode[[]core.AttemptError](r.raw(5)); len(errs) > 0 {
				g.Error = errs[len(errs)-1].Error
			}
			groups = append(groups, g)
			return nil
		}, append(deadArgs(q, core.CountCap), max(limit, 0))...)
	})
	return groups, wrap("dead groups", err)
}

func (t *tx) deadIDs(q core.DeadQuery, limit int) ([]int64, error) {
	var list []int64
	err := t.query(deadName("list_dead", q), func(r row) error {
		list = append(list, r.int(0))
		return nil
	}, deadArgs(q, max(limit, 0))...)
	return list, err
}

// deadName names the form of a statement that goes the way to the dead letters of q on which it meets the fewest in vain.
func deadName(name string, q core.DeadQuery) string {
	w := byID
	switch {
	case len(q.IDs) > 0:
		w = byIDs
	case q.Group != "":
		w = byGroup
	case q.Tenant != nil && *q.Tenant != "":
		w = byTenant
	case q.Type != "":
		w = byType
	}
	return name + "_" + string(w)
}

func deadArgs(q core.DeadQuery, most int) []any {
	var only any
	if len(q.IDs) > 0 {
		only = ids(q.IDs)
	}
	return []any{q.Type, tenantOrNull(q.Tenant), only, timeOrNull(q.Before), q.Group, q.After, most}
}
