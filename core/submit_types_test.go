package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// SubmitOnce is Submit; it plays no answers back.
func (s *submitStore) SubmitOnce(ctx context.Context, _ IdempotencyKey, jobs []NewJob, render func([]Submitted) (Answer, error)) (Once, error) {
	answers, err := s.Submit(ctx, jobs)
	if err != nil {
		return Once{}, err
	}
	answer, err := render(answers)
	return Once{Answer: answer, Jobs: answers}, err
}

// TestSubmitOnce: the same checks, one write of its own, and whoever runs jobs is woken.
func TestSubmitOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, woken := &submitStore{}, 0
		s := NewSubmitter(store, SubmitterOptions{Wake: func() { woken++ }})
		render := func(jobs []Submitted) (Answer, error) {
			return Answer{Status: 201, Body: fmt.Append(nil, len(jobs))}, nil
		}
		once, err := s.SubmitOnce(t.Context(), IdempotencyKey{Key: "k"}, []NewJob{named(1), named(2)}, render)
		if err != nil || once.Answer.Status != 201 || string(once.Answer.Body) != "2" || len(once.Jobs) != 2 || woken != 1 {
			t.Errorf("%+v, %v, woken %d times", once, err, woken)
		}
		var fault *FieldError
		if _, err := s.SubmitOnce(t.Context(), IdempotencyKey{Key: "k"}, []NewJob{named(1), {}}, render); !errors.As(err, &fault) || fault.Field != "type" {
			t.Errorf("a job that breaks a rule: %v", err)
		}
		if sizes := store.sizes(); len(sizes) != 1 || store.groups[0][1].Priority != Default || store.groups[0][1].MaxAttempts != DefaultMaxAttempts {
			t.Errorf("written: %v", sizes)
		}
		store.fault = func([]NewJob) error { return ErrKeyReused }
		if _, err := s.SubmitOnce(t.Context(), IdempotencyKey{Key: "k"}, []NewJob{named(1)}, render); !errors.Is(err, ErrKeyReused) {
			t.Errorf("the store's refusal: %v", err)
		}
	})
}

// allWays submits one job by each of the Submitter's methods and returns what was written of it, or the errors.
func allWays(t *testing.T, store *submitStore, s *Submitter, job NewJob) (written []NewJob, errs []error) {
	t.Helper()
	before := len(store.sizes())
	_, one := s.Submit(t.Context(), job)
	_, batch := s.SubmitBatch(t.Context(), []NewJob{job})
	_, once := s.SubmitOnce(t.Context(), IdempotencyKey{Key: "k"}, []NewJob{job}, func([]Submitted) (Answer, error) { return Answer{}, nil })
	_, oneOnce := s.SubmitOneOnce(t.Context(), IdempotencyKey{Key: "l"}, job, func(*NewJob, Submitted) Answer { return Answer{} })
	for _, group := range store.groups[before:] {
		written = append(written, group...)
	}
	return written, []error{one, batch, once, oneOnce}
}

// TestSubmitCompletesByType: jobs get what their type defines and they do not say themselves.
func TestSubmitCompletesByType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, known := &submitStore{}, newTypeStore()
		known.known["work"] = JobType{Name: "work", Defined: true, MaxAttempts: 9, Timeout: time.Hour, Backoff: []time.Duration{time.Minute}, Target: someTarget}
		types := NewTypes(known, TypesOptions{})
		s := NewSubmitter(store, SubmitterOptions{Types: types})
		for _, c := range []struct {
			job      NewJob
			attempts int
			timeout  time.Duration
			backoff  time.Duration
		}{
			{NewJob{Type: "work"}, 9, time.Hour, time.Minute},
			{NewJob{Type: "work", MaxAttempts: 2, Timeout: time.Second, Backoff: []time.Duration{time.Second}}, 2, time.Second, time.Second},
			{NewJob{Type: "other"}, DefaultMaxAttempts, 0, 0},
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
		if _, writes := known.count(); writes != 0 {
			t.Error("jobs without a target mark a type")
		}
		known.failing(ErrUnavailable)
		time.Sleep(time.Minute)
		if _, errs := allWays(t, store, s, named(1)); errors.Join(errs...) != nil {
			t.Errorf("known types that cannot be refreshed: %v", errs)
		}
		s = NewSubmitter(store, SubmitterOptions{Types: NewTypes(known, TypesOptions{})})
		if written, errs := allWays(t, store, s, named(1)); len(written) != 0 || !errors.Is(errs[0], ErrUnavailable) || !errors.Is(errs[1], ErrUnavailable) || !errors.Is(errs[2], ErrUnavailable) || !errors.Is(errs[3], ErrUnavailable) {
			t.Errorf("types never read: %d written, %v", len(written), errs)
		}
	})
}

// TestSubmitMarksTypesOfTargets: before a job with a target of its own is written its type is marked, once.
func TestSubmitMarksTypesOfTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, known := &submitStore{}, newTypeStore()
		types := NewTypes(known, TypesOptions{})
		s := NewSubmitter(store, SubmitterOptions{Types: types})
		store.fault = func(jobs []NewJob) error {
			for _, job := range jobs {
				if known, _ := types.Lookup(job.Type); job.Target != nil && !known.Delivered {
					return fmt.Errorf("%s was not marked before", job.Type)
				}
			}
			return nil
		}
		for range 2 {
			for _, typ := range []string{"a", "b"} {
				if _, errs := allWays(t, store, s, NewJob{Type: typ, Target: someTarget}); errors.Join(errs...) != nil {
					t.Fatal(errs)
				}
			}
		}
		if _, err := s.SubmitBatch(t.Context(), []NewJob{{Type: "d", Target: someTarget}, {Type: "x"}, {Type: "c", Target: someTarget}, {Type: "d", Target: someTarget}}); err != nil {
			t.Fatal(err)
		}
		if got, _ := types.Delivered(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
			t.Errorf("delivered: %q", got)
		}
		if _, writes := known.count(); writes != 3 {
			t.Errorf("%d writes of marks, want one for each call that brought new types", writes)
		}
		if _, errs := allWays(t, store, s, NewJob{Type: "e\x00", Target: someTarget}); errs[0] == nil || errs[1] == nil || errs[2] == nil || errs[3] == nil {
			t.Error("a type that breaks a rule was accepted")
		}
		known.failing(TooManyTypes())
		written, errs := allWays(t, store, s, NewJob{Type: "e", Target: someTarget})
		for _, err := range errs {
			if fault := (*FieldError)(nil); !errors.As(err, &fault) || fault.Field != "type" {
				t.Errorf("one type too many: %v", err)
			}
		}
		if _, writes := known.count(); len(written) != 0 || writes != 3 {
			t.Errorf("%d jobs of a type that could not be marked were written; %d marks", len(written), writes)
		}
	})
}

// quickStore writes nothing.
type quickStore struct{ SubmitStore }

func (quickStore) Submit(_ context.Context, jobs []NewJob) ([]Submitted, error) {
	return make([]Submitted, len(jobs)), nil
}

// TestSubmitAllocations bounds what the engine allocates for a job that is submitted alone; types known and no target, it
// is the same.
func TestSubmitAllocations(t *testing.T) {
	types := NewTypes(newTypeStore(), TypesOptions{Every: time.Hour})
	if err := types.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, opts := range map[string]SubmitterOptions{"without types": {}, "with types": {Types: types}} {
		s, job := NewSubmitter(quickStore{}, opts), named(1)
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
	s, job := NewSubmitter(quickStore{}, SubmitterOptions{}), named(1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Submit(b.Context(), job); err != nil {
			b.Fatal(err)
		}
	}
}
