package submit

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// onceEachScenarios runs the scenarios of SubmitOnce with single-job calls through SubmitOnceEach and the others as before,
// and adds scenarios of groups.
func onceEachScenarios() []storetest.Scenario {
	var all []storetest.Scenario
	for _, sc := range idempotencyScenarios() {
		if strings.Contains(sc.Name, "in flight") || strings.Contains(sc.Name, "cannot be made") {
			continue // the answer is made after the commit, so the call is never open
		}
		all = append(all, storetest.Scenario{Name: strings.Replace(sc.Name, "SubmitOnce/", "SubmitOnceEach/", 1), Run: func(s *storetest.Stage) { sc.Run(s.With(onceByEach{s.Store})) }})
	}
	return append(all,
		storetest.Scenario{Name: "SubmitOnceEach/each call of a group has its own answer", Run: onceEachMixed},
		storetest.Scenario{Name: "SubmitOnceEach/a job that is kept comes back as it was accepted", Run: onceEachKept},
		storetest.Scenario{Name: "SubmitOnceEach/groups at once with the same keys make one job for each", Run: onceEachRace},
		storetest.Scenario{Name: "SubmitOnceEach/no group waits for a key that is in flight", Run: onceEachInFlight},
		storetest.Scenario{Name: "SubmitOnceEach/jobs are written as asked, as queued ones too", Run: onceEachAsked},
	)
}

// onceByEach sends single-job calls through SubmitOnceEach.
type onceByEach struct{ core.Store }

func (o onceByEach) SubmitOnce(ctx context.Context, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	if len(jobs) != 1 || jobs[0].DedupeKey != "" {
		once, err := o.Store.SubmitOnce(ctx, key, jobs, render)
		return answered(once, err, render)
	}
	answers, err := o.SubmitOnceEach(ctx, []core.OnceCall{{Key: key, Job: jobs[0]}})
	if err != nil {
		return core.Once{}, err
	}
	return answered(answers[0].Once, answers[0].Err, render)
}

// answered makes the answer from the job, if it has one.
func answered(once core.Once, err error, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	made := once.Jobs
	if once.Kept != nil {
		made = []core.Submitted{once.Kept.Submitted}
	}
	if err == nil && len(made) == 1 && once.Answer.Status == 0 {
		once.Answer, err = render(made)
	}
	return once, err
}

func onceCall(key, what, typ string) core.OnceCall {
	return core.OnceCall{Key: onceKey("h", key, what), Job: core.NewJob{Type: typ}}
}

func onceEach(s *storetest.Stage, calls ...core.OnceCall) []core.OnceAnswer {
	s.Helper()
	answers, err := s.Store.SubmitOnceEach(s.Ctx, calls)
	if s.Must(err); len(answers) != len(calls) {
		s.Fatalf("%d answers for %d calls", len(answers), len(calls))
	}
	for i := range answers {
		if a := &answers[i]; a.Err == nil {
			if a.Replayed != (a.Kept != nil) || a.Replayed == (len(a.Jobs) == 1) {
				s.Errorf("call %d: %+v", i, a)
			}
			a.Once, a.Err = answered(a.Once, nil, renderIDs)
		}
	}
	return answers
}

func onceEachMixed(s *storetest.Stage) {
	typ := s.NewType()
	onceEach(s)
	first := onceEach(s, onceCall("old", "a", typ), onceCall("older", "a", typ))
	got := onceEach(s.Second(), onceCall("new", "a", typ), onceCall("old", "a", typ), onceCall("old", "b", typ), onceCall("other", "a", typ), onceCall("new", "a", typ))
	for i, want := range []struct {
		replayed bool
		err      error
		body     string
	}{{}, {replayed: true, body: string(first[0].Answer.Body)}, {err: core.ErrKeyReused}, {}} {
		if i == 2 && errors.Is(got[i].Err, core.ErrKeyInFlight) {
			continue // it has the key of the call before
		}
		if g := got[i]; g.Replayed != want.replayed || !errors.Is(g.Err, want.err) || want.body != "" && string(g.Answer.Body) != want.body ||
			(g.Err == nil && !g.Replayed) != (len(g.Jobs) == 1 && string(g.Answer.Body) == fmt.Sprint("ids ", g.Jobs[0].ID)) {
			s.Errorf("call %d: %+v, %q", i, g, g.Answer.Body)
		}
	}
	if last := got[4]; !errors.Is(last.Err, core.ErrKeyInFlight) || len(last.Jobs) > 0 {
		s.Errorf("two calls with one key: %+v and %+v", got[0], last)
	}
	if n := jobsOf(s, typ); n != 4 {
		s.Errorf("%d jobs", n)
	}
}

// onceEachKept repeats calls, alone and together with others, through both methods.
func onceEachKept(s *storetest.Stage) {
	call := onceCall("kept", "a", s.NewType())
	call.Job = core.NewJob{
		Type: call.Job.Type, Payload: []byte("{ \"n\": 1e5, \"s\":\"\\u00e9\" }"), Priority: core.Bulk, Tenant: "t", Delay: time.Hour, MaxAttempts: 7,
		Timeout: time.Minute + time.Microsecond, ExpiresAfter: 3 * time.Hour, Backoff: []time.Duration{time.Second, time.Minute},
		Target: []byte(`{ "url":"https://example.com/" }`), Tags: []string{"x", "ü"}, Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
	first := onceEach(s, call)[0]
	want := call.Job
	want.Delay = 0 // it is included in run_at
	for range 2 {
		again := onceEach(s, onceCall("other", "a", call.Job.Type), call)[1]
		one, err := s.Second().Store.SubmitOnce(s.Ctx, call.Key, nil, renderIDs)
		s.Must(err)
		for _, kept := range []*core.KeptJob{again.Kept, one.Kept} {
			if kept != nil {
				kept.Repeat(call.Job.Payload)
			}
			if kept == nil || !reflect.DeepEqual(kept.Job, want) {
				s.Fatalf("kept is %+v, want %+v", kept, want)
			}
			got, made := kept.Submitted, first.Jobs[0]
			if got.ID != made.ID || !got.RunAt.Equal(made.RunAt) || !got.CreatedAt.Equal(made.CreatedAt) || got.Status != made.Status || !made.RunAt.Equal(made.CreatedAt.Add(time.Hour)) {
				s.Errorf("kept is %+v, want %+v", got, made)
			}
		}
	}
}

// onceEachRace sends groups of 20 calls from 16 callers. Other callers send the same keys in other orders.
func onceEachRace(s *storetest.Stage) {
	typ, other := s.NewType(), s.Second()
	var mu sync.Mutex
	bodies := map[string]string{}
	const keys = 40
	s.Times(16, func(i int) error {
		by := []*storetest.Stage{s, other}[i%2]
		for left := map[int]bool{}; len(left) < keys; {
			var calls []core.OnceCall
			for k := range keys {
				if at := (k*[]int{1, 3, 7, keys - 1}[i%4] + i) % keys; !left[at] && len(calls) < 20 {
					calls = append(calls, onceCall(fmt.Sprint("key ", at), "a", typ))
				}
			}
			answers, err := by.Store.SubmitOnceEach(by.Ctx, calls)
			if err != nil {
				return err
			}
			mu.Lock()
			for n, a := range answers {
				if a.Err == nil {
					a.Once, a.Err = answered(a.Once, nil, renderIDs)
				}
				key := calls[n].Key.Key
				switch {
				case errors.Is(a.Err, core.ErrKeyInFlight):
				case a.Err != nil:
					mu.Unlock()
					return a.Err
				case bodies[key] != "" && bodies[key] != string(a.Answer.Body):
					s.Errorf("%s: answers %q and %q", key, bodies[key], a.Answer.Body)
				default:
					bodies[key] = string(a.Answer.Body)
					var at int
					_, _ = fmt.Sscanf(key, "key %d", &at)
					left[at] = true
				}
			}
			mu.Unlock()
		}
		return nil
	})
	if n := jobsOf(s, typ); n != keys || len(bodies) != keys {
		s.Errorf("%d jobs and %d answers for %d keys", n, len(bodies), keys)
	}
}

// onceEachInFlight sends groups while a call with one of their keys is open.
func onceEachInFlight(s *storetest.Stage) {
	typ := s.NewType()
	whileOpen(s, onceKey("h", "held", "a"), typ, func() error {
		answers, err := s.Second().Store.SubmitOnceEach(s.Ctx, []core.OnceCall{onceCall("a", "a", typ), onceCall("held", "a", typ), onceCall("b", "a", typ)})
		if err != nil || answers[0].Err != nil || !errors.Is(answers[1].Err, core.ErrKeyInFlight) || answers[2].Err != nil {
			return fmt.Errorf("%+v, %w", answers, err)
		}
		return nil
	})
	if n := jobsOf(s, typ); n != 3 {
		s.Errorf("%d jobs", n)
	}
}

func onceEachAsked(s *storetest.Stage) {
	typ := s.NewType()
	later, queued, tagged := onceCall("later", "a", typ), onceCall("queued", "a", typ), onceCall("tagged", "a", typ)
	later.Job.Delay, later.Job.Queued = time.Hour, true
	queued.Job.Queued, queued.Job.QueuedLease, queued.Job.Priority = true, time.Minute, core.Bulk
	tagged.Job.Tags, tagged.Job.Payload, tagged.Job.Tenant, tagged.Job.MaxAttempts = []string{"x"}, []byte(`{ "a": 1 }`), "t", 7
	got := onceEach(s, later, queued, tagged)
	for i, want := range []core.Status{core.Scheduled, core.Queued, core.Scheduled} {
		job := s.Get(got[i].Jobs[0].ID)
		if job.Status != want || got[i].Jobs[0].Status != want || got[i].Jobs[0].Token != job.LeaseToken || !got[i].Jobs[0].RunAt.Equal(job.RunAt) || !got[i].Jobs[0].CreatedAt.Equal(job.CreatedAt) {
			s.Errorf("call %d: %+v, the job %+v", i, got[i].Jobs[0], job)
		}
	}
	if job := s.Get(got[2].Jobs[0].ID); job.Tenant != "t" || job.MaxAttempts != 7 || string(job.Payload) != `{ "a": 1 }` || len(job.Tags) != 1 {
		s.Errorf("%+v", job)
	}
	if jobs := s.Start(core.Ref{ID: got[1].Jobs[0].ID, Token: got[1].Jobs[0].Token}).Jobs; len(jobs) != 1 || jobs[0].Priority != core.Bulk {
		s.Errorf("the queued one started as %+v", jobs)
	}
}
