package sqlite

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	dropBatch   = 500 // rows deleted in one transaction: others write in between
	vacuumPages = 500 // pages given back in one transaction
)

// Maintain deletes what is past its retention, in batches that others' writes go between, and gives free pages
// back to the file system. There are no partitions to make and no minutes to merge.
func (s *Store) Maintain(ctx context.Context, req core.MaintainRequest) (core.MaintainResult, error) {
	var res core.MaintainResult
	now := s.clock.now()
	err := s.drop(ctx, "drop_history", now, req.HistoryRetention, nil)
	if err == nil {
		err = s.drop(ctx, "drop_dead", now, req.DeadRetention, &res.DeadDropped)
	}
	if err == nil {
		err = s.writer.run(ctx, func(t *tx) error {
			_, err := t.exec("drop_rollups", now-rollupRetention.Microseconds())
			return err
		})
	}
	if err == nil {
		err = s.vacuum(ctx)
	}
	return res, wrap("maintain", err)
}

// drop deletes batches until none is full. A retention of zero keeps for ever.
func (s *Store) drop(ctx context.Context, name string, now int64, retention time.Duration, dropped *int) error {
	if retention <= 0 {
		return nil
	}
	for {
		var n int64
		err := s.writer.run(ctx, func(t *tx) (err error) {
			n, err = t.exec(name, now-retention.Microseconds(), dropBatch)
			return err
		})
		if err != nil {
			return err
		}
		if dropped != nil {
			*dropped += int(n)
		}
		if n < dropBatch {
			return nil
		}
	}
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
