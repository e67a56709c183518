package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// How long a type counts as unhandled: at first, and at most.
const (
	unhandledFirst   = 30 * time.Second
	unhandledLongest = 5 * time.Minute
)

// Start makes queued rows running whose token is equal.
func (s *Store) Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error) {
	var res core.StartResult
	err := s.carefully(ctx, func(t *tx) error {
		found, err := t.queued(refs)
		if err != nil {
			return err
		}
		res.Now = instant(t.now)
		if req.Targeted {
			found = slices.DeleteFunc(found, func(r row) bool {
				if r[colTarget] != nil {
					return false
				}
				res.Busy = append(res.Busy, core.Ref{ID: r.int(colID), Token: r.int(colLeaseToken)})
				return true
			})
		}
		res.Jobs, err = t.run(found, req)
		return err
	})
	if err != nil {
		return core.StartResult{}, wrap("start", err)
	}
	return res, nil
}

// Unhandled puts queued rows back because no handler is here, and marks those of their types that no live worker handles.
func (s *Store) Unhandled(ctx context.Context, refs []core.Ref) error {
	return wrap("unhandled", s.carefully(ctx, func(t *tx) error {
		found, err := t.queued(refs)
		if err != nil {
			return err
		}
		fleet, err := t.w.conn.fleet(context.Background(), t.now)
		if err != nil {
			return err
		}
		marked := make(map[string]bool)
		for _, r := range found {
			if err := t.unqueue(r); err != nil {
				return err
			}
			typ := r.text(colType)
			if marked[typ] {
				continue
			}
			marked[typ] = true
			var known mark
			if err := t.query("type_mark", func(r row) error { known = r.mark(1); return nil }, typ); err != nil {
				return err
			}
			if fleet.consumers.of(typ, known.deliverable) > 0 {
				continue
			}
			if _, err := t.exec("unhandled", typ, t.now, unhandledFirst.Microseconds(), unhandledLongest.Microseconds()); err != nil {
				return err
			}
		}
		return nil
	}))
}

// live returns live rows. A careful operation reads each alone.
func (t *tx) live(list []int64) (found []row, err error) {
	if !t.careful {
		return t.rows("get_many", ids(list))
	}
	for _, id := range list {
		_, err := t.alone(jobFault(id, "", core.ActStart), func() error {
			one, err := t.rows("get_many", ids([]int64{id}))
			found = append(found, one...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// unqueue returns a queued row to scheduled.
func (t *tx) unqueue(r row) error {
	_, err := t.alone(jobFault(r.int(colID), r.text(colType), "publish"), func() error {
		a := r.liveState()
		a.raise()
		return t.putBack(a, r.int(colRunAt))
	})
	return err
}

// queued returns the queued rows whose token one of refs has, each once.
func (t *tx) queued(refs []core.Ref) ([]row, error) {
	wanted := make(map[core.Ref]bool, len(refs))
	list := make([]int64, len(refs))
	for i, ref := range refs {
		wanted[ref], list[i] = true, ref.ID
	}
	all, err := t.live(list)
	if err != nil {
		return nil, err
	}
	queued := all[:0]
	for _, r := range all {
		if core.Status(r.int(colStatus)) == core.Queued && wanted[core.Ref{ID: r.int(colID), Token: r.int(colLeaseToken)}] {
			queued = append(queued, r)
		}
	}
	return queued, nil
}
