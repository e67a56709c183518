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
	// Lease is the worker's lease in scenarios. It is much shorter than an hour, and only Advance makes it expire, because
	// no scenario lasts that long.
	Lease = 10 * time.Minute
	// DispatchLease and DispatchLeaseMax are the defaults of deployments.
	DispatchLease    = 10 * time.Second
	DispatchLeaseMax = 5 * time.Minute
	// BucketLease is so long that it expires only in scenarios about leases.
	BucketLease = 1000 * time.Hour
	// Patience is the time after which a hanging scenario fails.
	Patience = 2 * time.Minute
)

// Stage is one scenario's database, with calls that bring jobs into a state. Its methods fail the scenario if the store
// returns an error.
type Stage struct {
	*testing.T
	Ctx   context.Context
	H     Harness
	DB    Database
	Store core.Store
	next  *atomic.Int64 // claim ids, and numbers in names
}

func OpenStage(t *testing.T, h Harness) *Stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	db := h.Open(t)
	return &Stage{t, ctx, h, db, db.Store(), new(atomic.Int64)}
}

// Sub runs a part of the scenario as a subtest on the same database.
func (s *Stage) Sub(name string, run func(s *Stage)) {
	s.Run(name, func(t *testing.T) {
		part := *s
		part.T = t
		run(&part)
	})
}

// With returns the same stage through another handle.
func (s *Stage) With(store core.Store) *Stage {
	other := *s
	other.Store = store
	return &other
}

// Second returns the same stage as seen by another process.
func (s *Stage) Second() *Stage { s.Helper(); return s.With(s.DB.OpenAgain(s.T)) }

// Number returns a number that was not used before.
func (s *Stage) Number() int64 { return s.next.Add(1) }

// NewType returns a type that no other job of this database has.
func (s *Stage) NewType() string { return fmt.Sprintf("type-%d", s.Number()) }

func (s *Stage) Must(err error) {
	if err != nil {
		s.Helper()
		s.Fatal(err)
	}
}

// Advance moves the store's clock.
func (s *Stage) Advance(d time.Duration) { s.Helper(); s.DB.Advance(s.T, d) }

// Now returns the store's time.
func (s *Stage) Now() time.Time {
	s.Helper()
	now, err := s.Store.Now(s.Ctx)
	s.Must(err)
	return now
}

// Hold opens a foreign transaction, or skips the scenario if the database cannot have one.
func (s *Stage) Hold(h Hold) (release func(commit bool)) {
	s.Helper()
	release = s.DB.Hold(s.T, h)
	if release == nil {
		s.Skip("this database has one writer: no other transaction can stay open next to the store's")
	}
	return release
}

// Together runs all acts at once, waits for them and reports their errors.
func (s *Stage) Together(acts ...func() error) {
	s.Helper()
	errs := make([]error, len(acts))
	var wg sync.WaitGroup
	for i, act := range acts {
		wg.Go(func() { errs[i] = act() })
	}
	wg.Wait()
	s.Must(errors.Join(errs...))
}

// Times runs act n times at once, as Together does.
func (s *Stage) Times(n int, act func(i int) error) {
	s.Helper()
	acts := make([]func() error, n)
	for i := range acts {
		acts[i] = func() error { return act(i) }
	}
	s.Together(acts...)
}

// Submit writes jobs, and checks that all of them are new.
func (s *Stage) Submit(jobs ...core.NewJob) []core.Submitted {
	s.Helper()
	out, err := s.Store.Submit(s.Ctx, jobs)
	s.Must(err)
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

// SubmitOne writes one job and returns its id.
func (s *Stage) SubmitOne(job core.NewJob) int64 { s.Helper(); return s.Submit(job)[0].ID }

// SubmitMany writes n jobs of one type, due now, and returns their ids.
func (s *Stage) SubmitMany(n int, typ string) []int64 {
	s.Helper()
	ids := make([]int64, 0, n)
	for len(ids) < n {
		batch := make([]core.NewJob, min(n-len(ids), core.MaxBatch))
		for i := range batch {
			batch[i] = core.NewJob{Type: typ}
		}
		for _, one := range s.Submit(batch...) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// Get reads one job.
func (s *Stage) Get(id int64) core.Job {
	s.Helper()
	job, err := s.Store.Get(s.Ctx, id)
	s.Must(err)
	return job
}
