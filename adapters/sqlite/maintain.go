package sqlite

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/tick"
)

const (
	dropBatch   = 500 // rows deleted in one transaction: others write in between
	vacuumPages = 500 // pages given back in one transaction
)

// Maintain deletes what is past its retention, in batches that others' writes go between, merges past minutes
// into their sums and gives free pages back to the file system. History goes by whole days, as in stores that
// keep a partition for each: a job stays until the day it ended on is past its retention.
// A step that meets a row that raises an error leaves the others to go on.
func (s *Store) Maintain(ctx context.Context, req core.MaintainRequest) (res core.MaintainResult, err error) {
	now := s.clock.now()
	var faults error
	for _, step := range s.maintainSteps(ctx, req, now, &res) {
		err := step()
		faults = errors.Join(faults, err)
		if err != nil && !isRowFault(err) {
			break
		}
	}
	return res, wrap("maintain", faults)
}

func (s *Store) maintainSteps(ctx context.Context, req core.MaintainRequest, now int64, res *core.MaintainResult) []func() error {
	drop := func(name string, before int64) func() error {
		return func() error {
			_, err := s.drop(ctx, name, before)
			return err
		}
	}
	var steps []func() error
	if req.HistoryRetention > 0 {
		steps = append(steps, drop("drop_history", micros(instant(now-req.HistoryRetention.Microseconds()).Truncate(24*time.Hour))))
	}
	if req.DeadRetention > 0 {
		steps = append(steps, func() (err error) {
			res.DeadDropped, err = s.drop(ctx, "drop_dead", now-req.DeadRetention.Microseconds())
			return err
		})
	}
	if req.LedgerRetention > 0 {
		steps = append(steps, drop("drop_ledger", now-req.LedgerRetention.Microseconds()))
	}
	return append(steps,
		drop("drop_alerts", now-tick.AlertRetention.Microseconds()), drop("drop_keys", now), drop("drop_apart", now-apartKept.Microseconds()),
		func() (err error) {
			res.RollupsMerged, err = s.repeat(ctx, (*tx).mergeRollups)
			return err
		}, func() error {
			_, err := s.repeat(ctx, func(t *tx) (int, error) { return t.foldTotals(now - core.TypeIdle.Microseconds()) })
			return err
		}, func() error {
			return s.writer.run(ctx, func(t *tx) error {
				_, err := t.exec("drop_workers", now-core.FunctionKeep.Microseconds(), now-core.GoneKeep.Microseconds())
				return err
			})
		},
		drop("drop_rollups", now-rollupRetention.Microseconds()),
		func() error { return s.vacuum(ctx) },
	)
}

// repeat runs batches, each an operation of its own, until one finds nothing more. It returns their sum.
func (s *Store) repeat(ctx context.Context, batch func(*tx) (int, error)) (sum int, err error) {
	for {
		var n int
		err := s.writer.run(ctx, func(t *tx) (err error) {
			n, err = batch(t)
			return err
		})
		if err != nil || n == 0 {
			return sum, err
		}
		sum += n
	}
}

// drop deletes rows from before an instant, each batch in an operation of its own. A row that cannot be deleted stays, and
// is named.
func (s *Store) drop(ctx context.Context, name string, before int64) (int, error) {
	return apart.Skim(dropBatch, math.MaxInt, func(n, skip int) (int, error) {
		var done int64
		err := s.writer.run(ctx, func(t *tx) (err error) {
			done, err = t.exec(name, before, n, skip)
			return err
		})
		if err != nil {
			return 0, wrap("maintain", err)
		}
		return int(done), nil
	}, func(skip int, err error) error {
		fault := core.RowFault{Kind: keptKinds[name], Act: core.ActDrop, Error: errorText(err)}
		named := s.readers.read(ctx, func(c *conn) error {
			return c.query(ctx, name+idsSuffix, func(r row) error {
				fault.ID = r.int(0)
				return nil
			}, before, 1, skip)
		})
		if named != nil {
			return named
		}
		return s.SetApart(ctx, []core.RowFault{fault})
	})
}

// keptKinds are the kinds of rows that are dropped.
var keptKinds = map[string]string{
	"drop_history": core.ApartDone, "drop_dead": core.ApartDead, "drop_alerts": core.ApartAlert, "drop_ledger": "occurrence",
	"drop_keys": "idempotency_key", "drop_rollups": "rollup", "drop_apart": "set_apart",
}

// vacuum gives free pages back while there are many; a few are kept for the jobs to come.
func (s *Store) vacuum(ctx context.Context) error {
	for {
		var free int64
		err := s.writer.run(ctx, func(t *tx) (err error) {
			if free, _, err = t.number("PRAGMA freelist_count"); err != nil || free < 2*vacuumPages {
				return err
			}
			_, err = t.exec("PRAGMA incremental_vacuum(500)")
			return err
		})
		if err != nil || free < 2*vacuumPages {
			return err
		}
	}
}
