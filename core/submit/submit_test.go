package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// submitStore records groups; each commit takes a while, and jobs may be at fault.
type submitStore struct {
	core.SubmitStore
	mu     sync.Mutex
	groups [][]core.NewJob
	nextID int64
	now    int // commits under way
	most   int
	fault  func(jobs []core.NewJob) error
}

const commitTime = 10 * time.Millisecond

func (s *submitStore) Submit(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	s.mu.Lock()
	s.groups = append(s.groups, jobs)
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(commitTime)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	if s.fault != nil {
		if err := s.fault(jobs); err != nil {
			return nil, err
		}
	}
	answers := make([]core.Submitted, len(jobs))
	for i, j := range jobs {
		s.nextID++
		now := time.Now()
		answers[i] = core.Submitted{ID: s.nextID, RunAt: now.Add(j.Delay), CreatedAt: now, Status: core.Scheduled}
	}
	return answers, nil
}

func (s *submitStore) sizes() (sizes []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.groups {
		sizes = append(sizes, len(g))
	}
	return sizes
}

func named(n int) core.NewJob {
	return core.NewJob{Type: "work", Payload: json.RawMessage(fmt.Sprint(n))}
}

// submitMany submits n jobs at once and returns the answers and errors.
func submitMany(t *testing.T, s *Submitter, n int, job func(i int) core.NewJob) ([]core.Submitted, []error) {
	t.Helper()
	answers, errs := make([]core.Submitted, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { answers[i], errs[i] = s.Submit(t.Context(), job(i)) })
	}
	group.Wait()
	return answers, errs
}

func TestSubmitGroupsConcurrentSingles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &submitStore{}
		s := New(store, Options{})
		began := time.Now()
		answers, errs := submitMany(t, s, 100, named)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*commitTime {
			t.Errorf("took %s, want two commits' time at most", took)
		}
		if sizes := store.sizes(); len(sizes) > 4 { // two flights with what was there, two with all the rest
			t.Errorf("groups of %v", sizes)
		}
		if store.most > 2 {
			t.Errorf("%d commits at once, want 2 at most", store.most)
		}
		ids := map[int64]bool{}
		for _, a := range answers {
			ids[a.ID] = true
		}
		if len(ids) != 100 {
			t.Errorf("%d ids for 100 jobs", len(ids))
		}
	})
}

// TestSubmitAnswersBelongToTheirJobs: each caller gets the answer of its own job, whatever the grouping.
func TestSubmitAnswersBelongToTheirJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(&submitStore{}, Options{MaxGroup: 7})
		answers, errs := submitMany(t, s, 60, func(i int) core.NewJob { return core.NewJob{Type: "work", Delay: time.Duration(i) * time.Hour} })
		for i, a := range answers {
			if errs[i] != nil || a.RunAt.Sub(a.CreatedAt) != time.Duration(i)*time.Hour {
				t.Errorf("job %d: %+v, %v", i, a, errs[i])
			}
		}
	})
}

func TestSubmitLimitsGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &submitStore{}
		_, errs := submitMany(t, New(store, Options{MaxGroup: 10}), 101, named)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for _, n := range store.sizes() {
			if n > 10 {
				t.Errorf("a group of %d", n)
			}
		}
	})
}

// TestSubmitKeyedAlone: a job with a dedupe key may wait for a stranger's transaction, so it shares no commit.
func TestSubmitKeyedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &submitStore{}
		_, errs := submitMany(t, New(store, Options{}), 50, func(i int) core.NewJob {
			j := named(i)
			if i%5 == 0 {
				j.DedupeKey = fmt.Sprint("k", i)
			}
			return j
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		keyed := 0
		for _, g := range store.groups {
			for _, j := range g {
				if j.DedupeKey != "" {
					keyed++
					if len(g) != 1 {
						t.Errorf("a keyed job in a group of %d", len(g))
					}
				}
			}
		}
		if keyed != 10 {
			t.Errorf("%d keyed jobs written, want 10", keyed)
		}
	})
}

// TestSubmitBadJobFailsAlone: a job that the store refuses does not take its group along.
func TestSubmitBadJobFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("no partition for this row")
		store := &submitStore{fault: func(jobs []core.NewJob) error {
			for _, j := range jobs {
				if string(j.Payload) == "13" {
					return bad
				}
			}
			return nil
		}}
		_, errs := submitMany(t, New(store, Options{}), 40, named)
		for i, err := range errs {
			if (i == 13) != errors.Is(err, bad) || i != 13 && err != nil {
				t.Errorf("job %d: %v", i, err)
			}
		}
		if store.nextID != 39 {
			t.Errorf("%d jobs written, want 39", store.nextID)
		}
	})
}

// TestSubmitOutageIsNotRepeated: when nobody knows whether a group was written, it is not written again.
func TestSubmitOutageIsNotRepeated(t *testing.T) {
	for _, outage := range []error{core.ErrUnavailable, core.ErrReadOnly, context.DeadlineExceeded} {
		synctest.Test(t, func(t *testing.T) {
			store := &submitStore{fault: func([]core.NewJob) error { return fmt.Errorf("store: %w", outage) }}
			_, errs := submitMany(t, New(store, Options{}), 20, named)
			written := 0
			for _, n := range store.sizes() {
				written += n
			}
			if written != 20 {
				t.Errorf("%v: 20 jobs were sent %d times", outage, written)
			}
			for i, err := range errs {
				if !errors.Is(err, outage) {
					t.Errorf("job %d: %v", i, err)
				}
			}
		})
	}
}

// TestSubmitCallerLeaves: a caller whose ctx ends stops waiting; the others' jobs and its own are written.
func TestSubmitCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &submitStore{}
		s := New(store, Options{InFlight: 1})
		go s.Submit(t.Context(), named(0))
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		var left error
		var group sync.WaitGroup
		group.Go(func() { _, left = s.Submit(ctx, named(1)) })
		group.Go(func() {
			if _, err := s.Submit(t.Context(), named(2)); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel(gone)
		group.Wait()
		if !errors.Is(left, gone) {
			t.Errorf("the one that left: %v", left)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if store.nextID != 3 {
			t.Errorf("%d jobs written, want 3", store.nextID)
		}
		if _, err := s.Submit(t.Context(), named(3)); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestSubmitWakesForWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		woken := 0
		s := New(&submitStore{}, Options{Wake: func() { woken++ }})
		for delay, want := range map[time.Duration]int{0: 1, time.Second: 1, 2 * time.Second: 0} {
			woken = 0
			if _, err := s.Submit(t.Context(), core.NewJob{Type: "work", Delay: delay}); err != nil || woken != want {
				t.Errorf("due in %s: woken %d times, %v", delay, woken, err)
			}
			woken = 0
			if _, err := s.SubmitBatch(t.Context(), []core.NewJob{{Type: "work", Delay: time.Hour}, {Type: "work", Delay: delay}}); err != nil || woken != want {
				t.Errorf("batch, due in %s: woken %d times, %v", delay, woken, err)
			}
		}
	})
}

func TestSubmitChecks(t *testing.T) {
	store := &submitStore{}
	s := New(store, Options{})
	var field *core.FieldError
	if _, err := s.Submit(t.Context(), core.NewJob{Type: "work", Payload: json.RawMessage(`{"a":`)}); !errors.As(err, &field) || field.Field != "payload" {
		t.Errorf("damaged payload: %v", err)
	}
	if _, err := s.SubmitBatch(t.Context(), []core.NewJob{named(1), {}}); !errors.As(err, &field) || field.Field != "type" {
		t.Errorf("batch without a type: %v", err)
	}
	if len(store.groups) != 0 {
		t.Error("a refused job reached the store")
	}
}
