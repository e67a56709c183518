package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// holders remembers, for each holder that ticks through this store, the buckets it held last.
type holders struct {
	mu   sync.Mutex
	held map[string]uint64 // a bit for each bucket
}

// noteHeld records what the holder has now and reports whether it lost a bucket since its last tick.
func (s *Store) noteHeld(holder string, held []core.Held) (lost bool) {
	var now uint64
	for _, h := range held {
		now |= 1 << h.Bucket
	}
	s.holders.mu.Lock()
	defer s.holders.mu.Unlock()
	if s.holders.held == nil {
		s.holders.held = map[string]uint64{}
	}
	lost = s.holders.held[holder]&^now != 0
	s.holders.held[holder] = now
	return lost
}

// makeLeases makes the rows of buckets again that somebody deleted, for the next tick to take. Rows that cannot be made are named.
func (s *Store) makeLeases(ctx context.Context) {
	var missing []int64
	err := s.run(ctx, "tick", s.sql.call("lease_missing", nil, collect(&missing)))
	if err != nil {
		return // as the next tick is to find
	}
	name := func(bucket int64, err error) error {
		return s.SetApart(ctx, []core.RowFault{{Kind: core.ApartBucket, ID: bucket, Act: "lease", Error: faultText(err)}})
	}
	err = apart.Halve(ctx, missing, func(part []int64) error {
		return s.run(ctx, "tick", s.guard(s.opts.LockTimeout), s.sql.call("lease_make", idArgs(part), nil))
	}, name)
	if errors.Is(err, core.ErrReadOnly) {
		for _, bucket := range missing {
			_ = name(bucket, err)
		}
	}
}

// ReleaseLeases gives the holder's bucket leases up as clean.
func (s *Store) ReleaseLeases(ctx context.Context, holder string) error {
	err := s.repeat(ctx, "release leases", s.guard(s.opts.LockTimeout), s.sql.call("lease_release", wire.NewArgs(1).Text(holder), nil))
	if err == nil {
		s.noteHeld(holder, nil)
	}
	return err
}
