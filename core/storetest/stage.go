package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	// lease is the worker's lease in scenarios: short enough to be told apart from an hour, and ended only by
	// Advance, since no scenario lasts that long.
	lease = 10 * time.Minute
	// dispatchLease and dispatchLeaseMax are those of deployments.
	dispatchLease    = 10 * time.Second
	dispatchLeaseMax = 5 * time.Minute
	// bucketLease is long, so that only scenarios about leases see one run out.
	bucketLease = 1000 * time.Hour
	// patience bounds a scenario that hangs.
	patience = 2 * time.Minute
)

// stage is one scenario's database, and the acts that put jobs where the scenario wants them. Its methods stop
// the scenario when the store answers with an error.
type stage struct {
	*testing.T
	ctx   context.Context
	h     Harness
	db    Database
	store core.Store
	next  *atomic.Int64 // claim ids, and numbers in names
}

func openStage(t *testing.T, h Harness) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	db := h.Open(t)
	return &stage{t, ctx, h, db, db.Store(), new(atomic.Int64)}
}

// sub runs a part of the scenario as a subtest on the same database.
func (s *stage) sub(name string, run func(s *stage)) {
	s.Run(name, func(t *testing.T) {
		part := *s
		part.T = t
		run(&part)
	})
}

// with is the same stage seen through another handle.
func (s *stage) with(store core.Store) *stage {
	other := *s
	other.store = store
	return &other
}

// second is the same stage seen as another process.
func (s *stage) second() *stage { s.Helper(); return s.with(s.db.OpenAgain(s.T)) }

// number returns a fresh number.
func (s *stage) number() int64 { return s.next.Add(1) }

// newType returns a type no other job of this database has.
func (s *stage) newType() string { return fmt.Sprintf("type-%d", s.number()) }

func (s *stage) must(err error) {
	if err != nil {
		s.Helper()
		s.Fatal(err)
	}
}

// advance moves the store's clock.
func (s *stage) advance(d time.Duration) { s.Helper(); s.db.Advance(s.T, d) }

// now is the store's clock.
func (s *stage) now() time.Time {
	s.Helper()
	now, err := s.store.Now(s.ctx)
	s.must(err)
	return now
}

// hold opens a stranger's transaction, or skips the scenario where there can be none.
func (s *stage) hold(h Hold) (release func(commit bool)) {
	s.Helper()
	release = s.db.Hold(s.T, h)
	if release == nil {
		s.Skip("this database has one writer: no other transaction can stay open beside the store's")
	}
	return release
}

// together runs all acts at once, waits for them and reports their errors.
func (s *stage) together(acts ...func() error) {
	s.Helper()
	errs := make([]error, len(acts))
	var wg sync.WaitGroup
	for i, act := range acts {
		wg.Go(func() { errs[i] = act() })
	}
	wg.Wait()
	s.must(errors.Join(errs...))
}

// times runs act n times at once, as together does.
func (s *stage) times(n int, act func(i int) error) {
	s.Helper()
	acts := make([]func() error, n)
	for i := range acts {
		acts[i] = func() error { return act(i) }
	}
	s.together(acts...)
}

// submit writes jobs, all of them new.
func (s *stage) submit(jobs ...core.NewJob) []core.Submitted {
	s.Helper()
	out, err := s.store.Submit(s.ctx, jobs)
	s.must(err)
	if len(out) != len(jobs) {
		s.Fatalf("Submit of %d jobs answered %d", len(jobs), len(out))
	}
	for i, one := range out {
		if one.Existing != nil {
			s.Fatalf("job %d of %d: want it written, but job %d holds its dedupe key", i, len(jobs), one.Existing.ID)
		}
	}
	return out
}

// submitOne writes one job and returns its id.
func (s *stage) submitOne(job core.NewJob) int64 { s.Helper(); return s.submit(job)[0].ID }

// submitMany writes n jobs of one type, due now, and returns their ids.
func (s *stage) submitMany(n int, typ string) []int64 {
	s.Helper()
	ids := make([]int64, 0, n)
	for len(ids) < n {
		batch := make([]core.NewJob, min(n-len(ids), core.MaxBatch))
		for i := range batch {
			batch[i] = core.NewJob{Type: typ}
		}
		for _, one := range s.submit(batch...) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// get reads one job.
func (s *stage) get(id int64) core.Job {
	s.Helper()
	job, err := s.store.Get(s.ctx, id)
	s.must(err)
	return job
}
