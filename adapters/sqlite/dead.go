package sqlite

import (
	"context"
	"errors"
	"math"

	"github.com/belfry-dev/belfry/core"
)

// Retry puts a dead letter back among the waiting jobs.
func (s *Store) Retry(ctx context.Context, id int64) (core.Job, error) {
	var job core.Job
	err := s.writer.run(ctx, func(t *tx) error {
		if err := t.retry(id); err != nil {
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
func (t *tx) retry(id int64) error {
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
	if _, err := t.exec("retry", id, t.now); err != nil {
		return err
	}
	_, err = t.exec("delete_dead", id)
	return err
}

// Redrive retries the dead letters that match, oldest first.
func (s *Store) Redrive(ctx context.Context, q core.DeadQuery, limit int, _ core.Pace) ([]core.Redriven, error) {
	var redriven []core.Redriven
	err := s.writer.run(ctx, func(t *tx) error {
		list, err := t.deadIDs(q, limit)
		if err != nil {
			return err
		}
		for _, id := range list {
			err := t.retry(id)
			if err != nil && !errors.Is(err, core.ErrConflict) {
				return err
			}
			redriven = append(redriven, core.Redriven{ID: id, Err: err})
		}
		return nil
	})
	if err != nil {
		return nil, wrap("redrive", err)
	}
	return redriven, nil
}

// Discard deletes dead letters that match.
func (s *Store) Discard(ctx context.Context, q core.DeadQuery, limit int) (int, error) {
	var n int64
	err := s.writer.run(ctx, func(t *tx) error {
		list, err := t.deadIDs(q, limit)
		if err != nil {
			return err
		}
		n, err = t.exec("discard", ids(list))
		return err
	})
	if err != nil {
		return 0, wrap("discard", err)
	}
	return int(n), nil
}

// CountDead counts the dead letters that match.
func (s *Store) CountDead(ctx context.Context, q core.DeadQuery) (int, error) {
	var n int64
	err := s.readers.read(ctx, func(c *conn) (err error) {
		n, _, err = c.number(ctx, "count_dead", deadArgs(q)...)
		return err
	})
	return int(n), wrap("count dead", err)
}

func (t *tx) deadIDs(q core.DeadQuery, limit int) ([]int64, error) {
	var list []int64
	err := t.query("list_dead", func(r row) error {
		list = append(list, r.int(0))
		return nil
	}, append(deadArgs(q), max(limit, 0))...)
	return list, err
}

func deadArgs(q core.DeadQuery) []any {
	var only any
	if q.IDs != nil {
		only = ids(q.IDs)
	}
	return []any{q.Type, tenantOrNull(q.Tenant), only, timeOr(q.Before, math.MaxInt64)}
}
