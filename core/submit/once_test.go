package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// SubmitOnceEach is Submit; it plays no answers back. A type of "reused" is the fault of its call alone.
func (s *submitStore) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	jobs := make([]core.NewJob, len(calls))
	for i := range calls {
		jobs[i] = calls[i].Job
	}
	written, err := s.Submit(ctx, jobs)
	if err != nil {
		return nil, err
	}
	answers := make([]core.OnceAnswer, len(calls))
	for i := range calls {
		if calls[i].Job.Type == "reused" {
			answers[i].Err = core.ErrKeyReused
			continue
		}
		answers[i].Jobs = written[i : i+1]
	}
	return answers, nil
}

// renderID tells which job was written.
func renderID(_ *core.NewJob, s core.Submitted) core.Answer {
	return core.Answer{Status: 201, Body: fmt.Append(nil, s.ID)}
}

// Jobs under idempotency keys share commits as others do, beside them; those with a dedupe key do not, for they may wait for
// a stranger's transaction.
func TestSubmitOnceSharesCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &submitStore{}
		s := New(store, Options{})
		began := time.Now()
		answers, errs := onceMany(t, s, 100, named)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*commitTime || len(store.sizes()) > 4 || store.most > 2 {
			t.Errorf("took %s, groups of %v, %d at once", took, store.sizes(), store.most)
		}
		bodies := map[string]bool{}
		for _, a := range answers {
			if bodies[string(a.Answer.Body)] = true; string(a.Answer.Body) != fmt.Sprint(a.Jobs[0].ID) {
				t.Errorf("%s answers job %d", a.Answer.Body, a.Jobs[0].ID)
			}
		}
		if len(bodies) != 100 {
			t.Errorf("%d answers for 100 jobs", len(bodies))
		}
		before := len(store.sizes())
		if _, errs = onceMany(t, s, 10, func(i int) core.NewJob { return core.NewJob{Type: "work", DedupeKey: fmt.Sprint(i)} }); errors.Join(errs...) != nil {
			t.Fatal(errs)
		}
		for _, n := range store.sizes()[before:] {
			if n != 1 {
				t.Errorf("%d jobs with dedupe keys share a commit", n)
			}
		}
	})
}

// What is one call's fault is no other's, whether the store says so of it alone or refuses the group.
func TestSubmitOnceFaultsStayAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &submitStore{fault: func(jobs []core.NewJob) error {
			for _, j := range jobs {
				if j.Type == "poison" {
					return errors.New("this job cannot be written")
				}
			}
			return nil
		}}
		s := New(store, Options{})
		types := map[int]string{7: "poison", 9: "reused"}
		_, errs := onceMany(t, s, 40, func(i int) core.NewJob { return core.NewJob{Type: cmp.Or(types[i], "work")} })
		for i, err := range errs {
			switch {
			case i == 7 && (err == nil || errors.Is(err, core.ErrKeyReused)), i == 9 && !errors.Is(err, core.ErrKeyReused), i != 7 && i != 9 && err != nil:
				t.Errorf("call %d: %v", i, err)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := oneOnce(t.Context(), s, "late", named(1), renderID); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// oneOnce checks a job and writes it under a key.
func oneOnce(ctx context.Context, s *Submitter, key string, job core.NewJob, render func(*core.NewJob, core.Submitted) core.Answer) (core.Once, error) {
	checked, err := s.Check(ctx, job, time.Now())
	if err != nil {
		return core.Once{}, err
	}
	return s.WriteOneOnce(ctx, core.IdempotencyKey{Key: key}, checked, render)
}

// once checks jobs and writes them under a key.
func once(ctx context.Context, s *Submitter, key string, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	checked := make([]core.CheckedJob, len(jobs))
	for i, job := range jobs {
		var err error
		if checked[i], err = s.Check(ctx, job, time.Now()); err != nil {
			return core.Once{}, err
		}
	}
	return s.WriteOnce(ctx, core.IdempotencyKey{Key: key}, checked, render)
}

// onceMany submits n jobs at once, each under a key of its own.
func onceMany(t *testing.T, s *Submitter, n int, job func(i int) core.NewJob) ([]core.Once, []error) {
	t.Helper()
	answers, errs := make([]core.Once, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			answers[i], errs[i] = oneOnce(t.Context(), s, fmt.Sprint(i), job(i), renderID)
		})
	}
	group.Wait()
	return answers, errs
}
