package belfrytest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

// failingT is a test that is expected to fail. It keeps its failure texts.
type failingT struct {
	testing.TB
	mu       sync.Mutex
	said     []string
	cleanups []func()
}

func (t *failingT) Helper()          {}
func (t *failingT) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

func (t *failingT) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

func (t *failingT) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// failure runs body as a test of its own and returns its failure texts, or "" if it passed.
func failure(t *testing.T, body func(t testing.TB)) string {
	t.Helper()
	f := &failingT{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			for i := len(f.cleanups) - 1; i >= 0; i-- {
				f.cleanups[i]()
			}
		}()
		body(f)
	}()
	<-ended
	return strings.Join(f.said, "\n")
}

func TestFailuresTellTheJob(t *testing.T) {
	t.Parallel()
	boom := setOf(func(context.Context, *handler.Job[note]) error { return errors.New("mail server is down") })
	for _, c := range []struct {
		name string
		body func(t testing.TB)
		want []string
	}{
		{"waits for a retry", func(t testing.TB) {
			e := belfrytest.New(t, boom)
			e.WaitFor(e.Submit("note", note{"hi"}), core.Done)
		}, []string{"WaitFor: job 1 is not done", `"note": scheduled, attempt 1 of 5, due in 30s`, `payload {"text":"hi"}`, "attempt 1 now: error: mail server is down"}},
		{"nobody handles the type", func(t testing.TB) {
			e := belfrytest.New(t, boom)
			e.WaitFor(e.Submit("other", nil), core.Done)
		}, []string{"WaitFor: job 1 is not done", `job 1 "other": scheduled`, "due now, and no handler is registered for its type"}},
		{"ends otherwise", func(t testing.TB) {
			e := belfrytest.New(t, boom)
			id := e.Submit("note", nil)
			e.Cancel(id)
			e.WaitFor(id, core.Done)
		}, []string{`"note": cancelled`, "ended now (cancelled)"}},
		{"no such job", func(t testing.TB) { belfrytest.New(t, boom).Job(77) }, []string{"job 77: ", "not found"}},
		{"cannot be cancelled any more", func(t testing.TB) {
			e := belfrytest.New(t, nil)
			id := e.Submit("note", nil)
			e.Cancel(id)
			e.Cancel(id)
		}, []string{"Cancel: job 1: ", "the job is cancelled"}},
		{"retry of a job that has not failed", func(t testing.TB) {
			e := belfrytest.New(t, nil)
			e.Retry(e.Submit("note", nil))
		}, []string{"Retry: job 1: "}},
		{"reschedule of a job that has ended", func(t testing.TB) {
			e := belfrytest.New(t, nil)
			id := e.Submit("note", nil)
			e.Cancel(id)
			e.Reschedule(id, e.Now())
		}, []string{"Reschedule: job 1: "}},
		{"submit breaks a rule", func(t testing.TB) { belfrytest.New(t, boom).Submit("no such type!", nil) }, []string{"SubmitJob: type: must be"}},
		{"payload is no JSON", func(t testing.TB) { belfrytest.New(t, boom).Submit("note", make(chan int)) }, []string{"payload: json: unsupported type"}},
		{"time does not go back", func(t testing.TB) { belfrytest.New(t, boom).Advance(-time.Second) }, []string{"Advance: -1s is in the past"}},
		{"nor in leaps", func(t testing.TB) { belfrytest.New(t, boom).Skip(-time.Second) }, []string{"Skip: -1s is in the past"}},
		{"faults of the set", func(t testing.TB) {
			set := setOf(func(context.Context, *handler.Job[note]) error { return nil })
			handler.Register[note](set, "x", nil)
			belfrytest.New(t, set)
		}, []string{`type "x": the function is nil`}},
		{"nothing submitted", func(t testing.TB) { belfrytest.New(t, nil).RequireSubmitted("note") }, []string{`no job of type "note" was submitted`, "nothing was submitted"}},
		{"another type submitted", func(t testing.TB) {
			e := belfrytest.New(t, nil)
			e.Submit("memo", note{"hi"})
			e.RequireSubmitted("note")
		}, []string{"submitted of other types:", `job 1 "memo"`}},
		{"submitted and should not be", func(t testing.TB) {
			e := belfrytest.New(t, nil)
			e.Submit("note", note{strings.Repeat("é", 300)})
			e.RequireNotSubmitted("note", belfrytest.Tenant(""))
		}, []string{`1 of type "note" with tenant "" were submitted`, "… (611 bytes)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			said := failure(t, c.body)
			for _, want := range c.want {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not in what was said:\n%s", want, said)
				}
			}
		})
	}
}

func TestEachMatchCanFail(t *testing.T) {
	t.Parallel()
	e := belfrytest.New(t, nil)
	e.SubmitJob(core.NewJob{
		Type: "note", Payload: []byte(`{"b": 1.0, "a": [true, null]}`), Tenant: "acme", Priority: core.Bulk,
		Tags: []string{"x"}, DedupeKey: "k", Delay: time.Hour,
	})
	holds := []belfrytest.Match{
		belfrytest.PayloadWhere("with b", func(m map[string]any) bool { return m["b"] != nil }),
		belfrytest.Tenant("acme"), belfrytest.Priority(core.Bulk), belfrytest.Tag("x"), belfrytest.DedupeKey("k"),
		belfrytest.DueIn(time.Hour), belfrytest.DueAt(e.Now().Add(time.Hour)), belfrytest.Status(core.Scheduled),
		belfrytest.Payload(core.Job{}.Payload), // replaced below
	}
	holds[len(holds)-1] = belfrytest.Payload(rawJSON(`{"a":[true,null],"b":1.0}`))
	for i, m := range holds {
		if len(e.Submitted("note", m)) != 1 {
			t.Errorf("match %d does not hold: %+v", i, m)
		}
	}
	for i, m := range []belfrytest.Match{
		belfrytest.PayloadWhere("with c", func(m map[string]any) bool { return m["c"] != nil }),
		belfrytest.PayloadWhere("of another type", func([]int) bool { return true }),
		belfrytest.Tenant("other"), belfrytest.Tenant(""), belfrytest.Priority(core.Default), belfrytest.Tag("y"), belfrytest.DedupeKey(""),
		belfrytest.DueIn(0), belfrytest.DueAt(e.Now()), belfrytest.Status(core.Done),
		belfrytest.Payload(rawJSON(`{"a":[true,null],"b":1}`)), belfrytest.Payload(rawJSON(`{"a":[null,true],"b":1.0}`)), belfrytest.Payload(make(chan int)),
	} {
		if len(e.Submitted("note", m)) != 0 {
			t.Errorf("match %d holds: %+v", i, m)
		}
	}
}

// TestHandlerThatNeverReturnsFailsTheTest runs in a bubble, in which Patience passes at once.
func TestHandlerThatNeverReturnsFailsTheTest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		said := failure(t, func(t testing.TB) {
			e := belfrytest.New(t, setOf(func(context.Context, *handler.Job[note]) error { <-release; return nil }))
			e.Submit("note", note{"stuck"})
			e.Drain()
		})
		for _, want := range []string{"Drain: nothing happened for 30s", "WaitFor(id, core.Running)", `job 1 "note": running, attempt 1 of 5`, "handlers go on after the end of their context"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not in what was said:\n%s", want, said)
			}
		}
	})
}

func TestWorkWithoutEndFailsTheTest(t *testing.T) {
	t.Parallel()
	said := failure(t, func(t testing.TB) {
		var e *belfrytest.Engine
		set := setOf(func(ctx context.Context, _ *handler.Job[note]) error {
			_, err := e.Submitter().Submit(ctx, core.NewJob{Type: "note"})
			return err
		})
		e = belfrytest.NewWith(t, set, belfrytest.Options{MaxRuns: 20})
		e.Submit("note", nil)
		e.Drain()
	})
	if !strings.Contains(said, "Drain: 21 attempts without an end") {
		t.Errorf("said %s", said)
	}
}

func TestDrivingFromAHandlerFailsTheTest(t *testing.T) {
	t.Parallel()
	said := failure(t, func(t testing.TB) {
		var e *belfrytest.Engine
		e = belfrytest.New(t, setOf(func(context.Context, *handler.Job[note]) error { e.Drain(); return nil }))
		e.SubmitJob(core.NewJob{Type: "note", MaxAttempts: 1})
		e.Drain()
	})
	if !strings.Contains(said, "the engine is being driven already") {
		t.Errorf("said %q", said)
	}
}
