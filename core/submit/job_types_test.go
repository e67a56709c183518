package submit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/core/typecache/typestoretest"
)

// SubmitOnce is Submit; it plays no answers back.
func (s *submitStore) SubmitOnce(ctx context.Context, _ core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	answers, err := s.Submit(ctx, jobs)
	if err != nil {
		return core.Once{}, err
	}
	answer, err := render(answers)
	return core.Once{Answer: answer, Jobs: answers}, err
}

// TestSubmitOnce: the same checks, one write of its own, and whoever runs jobs is woken.
func TestSubmitOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, woken := &submitStore{}, 0
		s := New(store, Options{Wake: func() { woken++ }})
		render := func(jobs []core.Submitted) (core.Answer, error) {
			return core.Answer{Status: 201, Body: fmt.Append(nil, len(jobs))}, nil
		}
		written, err := once(t.Context(), s, "k", []core.NewJob{named(1), named(2)}, render)
		if err != nil || written.Answer.Status != 201 || string(written.Answer.Body) != "2" || len(written.Jobs) != 2 || woken != 1 {
			t.Errorf("%+v, %v, woken %d times", written, err, woken)
		}
		var fault *core.FieldError
		if _, err := once(t.Context(), s, "k", []core.NewJob{named(1), {}}, render); !errors.As(err, &fault) || fault.Field != "type" {
			t.Errorf("a job that breaks a rule: %v", err)
		}
		if sizes := store.sizes(); len(sizes) != 1 || store.groups[0][1].Priority != core.Default || store.groups[0][1].MaxAttempts != core.DefaultMaxAttempts {
			t.Errorf("written: %v", sizes)
		}
		store.fault = func([]core.NewJob) error { return core.ErrKeyReused }
		if _, err := once(t.Context(), s, "k", []core.NewJob{named(1)}, render); !errors.Is(err, core.ErrKeyReused) {
			t.Errorf("the store's refusal: %v", err)
		}
	})
}

// allWays submits one job by each of the Submitter's methods and returns what was written of it, or the errors.
func allWays(t *testing.T, store *submitStore, s *Submitter, job core.NewJob) (written []core.NewJob, errs []error) {
	t.Helper()
	before := len(store.sizes())
	_, one := s.Submit(t.Context(), job)
	_, batch := s.SubmitBatch(t.Context(), []core.NewJob{job})
	_, keyed := once(t.Context(), s, "k", []core.NewJob{job}, func([]core.Submitted) (core.Answer, error) { return core.Answer{}, nil })
	_, oneKeyed := oneOnce(t.Context(), s, "l", job, func(*core.NewJob, core.Submitted) core.Answer { return core.Answer{} })
	for _, group := range store.groups[before:] {
		written = append(written, group...)
	}
	return written, []error{one, batch, keyed, oneKeyed}
}

// TestSubmitCompletesByType: jobs get what their type defines and they do not say themselves.
func TestSubmitCompletesByType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, known := &submitStore{}, typestoretest.NewStore()
		known.Known["work"] = core.JobType{Name: "work", Defined: true, MaxAttempts: 9, Timeout: time.Hour, Backoff: []time.Duration{time.Minute}, Target: typestoretest.Target}
		types := typecache.New(known, typecache.Options{})
		s := New(store, Options{Types: types})
		for _, c := range []struct {
			job      core.NewJob
			attempts int
			timeout  time.Duration
			backoff  time.Duration
		}{
			{core.NewJob{Type: "work"}, 9, time.Hour, time.Minute},
			{core.NewJob{Type: "work", MaxAttempts: 2, Timeout: time.Second, Backoff: []time.Duration{time.Second}}, 2, time.Second, time.Second},
			{core.NewJob{Type: "other"}, core.DefaultMaxAttempts, 0, 0},
		} {
			written, errs := allWays(t, store, s, c.job)
			if err := errors.Join(errs...); err != nil || len(written) != 4 {
				t.Fatalf("%d written, %v", len(written), err)
			}
			for i, job := range written {
				wait := time.Duration(0)
				if len(job.Backoff) > 0 {
					wait = job.Backoff[0]
				}
				if job.MaxAttempts != c.attempts || job.Timeout != c.timeout || wait != c.backoff || job.Target != nil {
					t.Errorf("way %d of %+v: written %+v", i, c.job, job)
				}
			}
		}
		if _, writes := known.Count(); writes != 0 {
			t.Error("jobs without a target mark a type")
		}
		known.Failing(core.ErrUnavailable)
		time.Sleep(time.Minute)
		if _, errs := allWays(t, store, s, named(1)); errors.Join(errs...) != nil {
			t.Errorf("known types that cannot be refreshed: %v", errs)
		}
		s = New(store, Options{Types: typecache.New(known, typecache.Options{})})
		if written, errs := allWays(t, store, s, named(1)); len(written) != 0 || !errors.Is(errs[0], core.ErrUnavailable) || !errors.Is(errs[1], core.ErrUnavailable) || !errors.Is(errs[2], core.ErrUnavailable) || !errors.Is(errs[3], core.ErrUnavailable) {
			t.Errorf("types never read: %d written, %v", len(written), errs)
		}
	})
}

// TestSubmitMarksTypesOfTargets: before a job with a target of its own is written its type is marked, once.
func TestSubmitMarksTypesOfTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, known := &submitStore{}, typestoretest.NewStore()
		types := typecache.New(known, typecache.Options{})
		s := New(store, Options{Types: types})
		store.fault = func(jobs []core.NewJob) error {
			for _, job := range jobs {
				if known, _ := types.Lookup(job.Type); job.Target != nil && !known.Delivered {
					return fmt.Errorf("%s was not marked before", job.Type)
				}
			}
			return nil
		}
		for range 2 {
			for _, typ := range []string{"a", "b"} {
				if _, errs := allWays(t, store, s, core.NewJob{Type: typ, Target: typestoretest.Target}); errors.Join(errs...) != nil {
					t.Fatal(errs)
				}
			}
		}
		if _, err := s.SubmitBatch(t.Context(), []core.NewJob{{Type: "d", Target: typestoretest.Target}, {Type: "x"}, {Type: "c", Target: typestoretest.Target}, {Type: "d", Target: typestoretest.Target}}); err != nil {
			t.Fatal(err)
		}
		if got, _ := types.Delivered(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
			t.Errorf("delivered: %q", got)
		}
		if _, writes := known.Count(); writes != 3 {
			t.Errorf("%d writes of marks, want one for each call that brought new types", writes)
		}
		if _, errs := allWays(t, store, s, core.NewJob{Type: "e\x00", Target: typestoretest.Target}); errs[0] == nil || errs[1] == nil || errs[2] == nil || errs[3] == nil {
			t.Error("a type that breaks a rule was accepted")
		}
		known.Failing(core.TooManyTypes())
		written, errs := allWays(t, store, s, core.NewJob{Type: "e", Target: typestoretest.Target})
		for _, err := range errs {
			if fault := (*core.FieldError)(nil); !errors.As(err, &fault) || fault.Field != "type" {
				t.Errorf("one type too many: %v", err)
			}
		}
		if _, writes := known.Count(); len(written) != 0 || writes != 3 {
			t.Errorf("%d jobs of a type that could not be marked were written; %d marks", len(written), writes)
		}
	})
}

// quickStore writes nothing.
type quickStore struct{ core.SubmitStore }

func (quickStore) Submit(_ context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	return make([]core.Submitted, len(jobs)), nil
}

// TestSubmitAllocations bounds what the engine allocates for a job that is submitted alone; types known and no target, it
// is the same.
func TestSubmitAllocations(t *testing.T) {
	types := typecache.New(typestoretest.NewStore(), typecache.Options{Every: time.Hour})
	if err := types.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, opts := range map[string]Options{"without types": {}, "with types": {Types: types}} {
		s, job := New(quickStore{}, opts), named(1)
		per := testing.AllocsPerRun(1_000, func() {
			if _, err := s.Submit(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%s: %.1f allocations", name, per)
		if per > submitAllocations {
			t.Errorf("%s: %.1f allocations per job, want %d at most", name, per, submitAllocations)
		}
	}
}

const submitAllocations = 12

// BenchmarkSubmit is the engine's own cost of a job that is submitted alone.
func BenchmarkSubmit(b *testing.B) {
	s, job := New(quickStore{}, Options{}), named(1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Submit(b.Context(), job); err != nil {
			b.Fatal(err)
		}
	}
}
