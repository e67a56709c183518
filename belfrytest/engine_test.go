package belfrytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

type note struct {
	Text string `json:"text"`
}

// setOf returns a set with one handler, of type "note".
func setOf(work func(ctx context.Context, job *handler.Job[note]) error) *handler.Set {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "note", work)
	return set
}

func TestDrainRunsWhatIsDueAndNothingElse(t *testing.T) {
	t.Parallel()
	var ran []string
	e := belfrytest.New(t, setOf(func(_ context.Context, job *handler.Job[note]) error {
		ran = append(ran, job.Payload.Text)
		return nil
	}))
	now := e.Submit("note", note{"now"})
	later := e.SubmitJob(core.NewJob{Type: "note", Payload: e.JSON(note{"later"}), Delay: time.Hour}).ID
	if job := e.Job(now); job.Status != core.Scheduled {
		t.Fatalf("the job is %s before anything was to run", job.Status)
	}
	e.Drain()
	if !slices.Equal(ran, []string{"now"}) || e.Job(now).Status != core.Done || e.Job(later).Status != core.Scheduled {
		t.Fatalf("ran %q; %s, %s", ran, e.Job(now).Status, e.Job(later).Status)
	}
	e.Advance(time.Hour - time.Microsecond)
	if len(ran) != 1 {
		t.Fatalf("ran %q a microsecond before it was due", ran)
	}
	e.Advance(time.Microsecond)
	if job := e.Job(later); job.Status != core.Done || !job.StartedAt.Equal(job.RunAt) {
		t.Errorf("%s, started at %s, due at %s", job.Status, job.StartedAt, job.RunAt)
	}
}

func TestRetriesByExactBackOffUntilTheDeadLetter(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	var at []time.Time
	var e *belfrytest.Engine
	e = belfrytest.New(t, setOf(func(context.Context, *handler.Job[note]) error {
		at = append(at, e.Now())
		return boom
	}))
	start := e.Now()
	id := e.SubmitJob(core.NewJob{Type: "note", MaxAttempts: 4, Backoff: []time.Duration{time.Second, 5 * time.Hour}}).ID
	e.Advance(24 * time.Hour)

	var waits []time.Duration
	for _, ran := range at {
		waits = append(waits, ran.Sub(start))
	}
	if !slices.Equal(waits, []time.Duration{0, time.Second, 5*time.Hour + time.Second, 10*time.Hour + time.Second}) {
		t.Errorf("ran after %s", waits)
	}
	e.WaitFor(id, core.Failed)
	failed := e.Errors(id)
	if len(failed) != 4 || failed[3].Error != "boom" || failed[3].Kind != core.KindError || failed[3].At.Sub(start).Round(time.Minute) != 10*time.Hour {
		t.Errorf("errors %+v", failed)
	}
	if job := e.Retry(id); job.Status != core.Scheduled || job.Attempts != 0 {
		t.Errorf("put back as %+v", job)
	}
	e.Drain()
	if len(at) != 5 {
		t.Errorf("%d attempts after the retry, want 5", len(at))
	}
}

func TestPermanentRetryAfterAndSnooze(t *testing.T) {
	t.Parallel()
	e := belfrytest.New(t, setOf(func(_ context.Context, job *handler.Job[note]) error {
		switch {
		case job.Payload.Text == "never":
			return handler.Permanent(errors.New("no such address"))
		case job.Payload.Text == "busy" && job.Attempts == 1:
			return handler.RetryAfter(errors.New("busy"), 90*time.Second)
		case job.Payload.Text == "early" && job.Snoozes < 2:
			return handler.Snooze(time.Hour)
		}
		return nil
	}))
	never, busy, early := e.Submit("note", note{"never"}), e.Submit("note", note{"busy"}), e.Submit("note", note{"early"})
	e.Drain()
	e.WaitFor(never, core.Failed)
	if due := e.Job(busy).RunAt.Sub(e.Now()); due != 90*time.Second {
		t.Errorf("retried in %s", due)
	}
	e.Advance(90 * time.Second)
	e.WaitFor(busy, core.Done)
	e.Advance(2 * time.Hour)
	if job := e.WaitFor(early, core.Done); job.Attempts != 1 || job.Snoozes != 2 {
		t.Errorf("%d attempts, %d snoozes", job.Attempts, job.Snoozes)
	}
}

func TestExpiryAndDedupe(t *testing.T) {
	t.Parallel()
	ran := 0
	e := belfrytest.New(t, setOf(func(context.Context, *handler.Job[note]) error { ran++; return nil }))
	expires := core.NewJob{Type: "note", DedupeKey: "k", Delay: 2 * time.Hour, ExpiresAt: e.Now().Add(3 * time.Hour)}
	first := e.SubmitJob(expires)
	if again := e.SubmitJob(expires); again.Existing == nil || again.ID != first.ID {
		t.Errorf("the key was free: %+v", again)
	}
	if n := len(e.Submitted("note")); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	e.Skip(4 * time.Hour)
	e.Drain()
	if job := e.WaitFor(first.ID, core.Cancelled); job.Reason != "expired" || ran != 0 {
		t.Errorf("%q, ran %d times", job.Reason, ran)
	}
	expires.ExpiresAt = e.Now().Add(3 * time.Hour)
	if fresh := e.SubmitJob(expires); fresh.Existing != nil {
		t.Errorf("the key is still taken by %+v", fresh.Existing)
	}
	e.Advance(2 * time.Hour)
	if ran != 1 {
		t.Errorf("ran %d times", ran)
	}
}

func TestOrderIsPriorityThenTime(t *testing.T) {
	t.Parallel()
	var order []string
	work := func(_ context.Context, job *handler.Job[note]) error {
		order = append(order, job.Payload.Text)
		return nil
	}
	set := setOf(work)
	handler.Register(set, "a.note", work)
	e := belfrytest.New(t, set)
	for _, job := range []core.NewJob{
		{Type: "note", Priority: core.Bulk, Payload: e.JSON(note{"bulk"})},
		{Type: "note", Delay: 2 * time.Minute, Payload: e.JSON(note{"third"})},
		{Type: "a.note", Delay: 3 * time.Minute, Payload: e.JSON(note{"fourth"})},
		{Type: "a.note", Delay: time.Minute, Payload: e.JSON(note{"second"})},
		{Type: "note", Priority: core.Critical, Delay: 4 * time.Minute, Payload: e.JSON(note{"critical"})},
	} {
		e.SubmitJob(job)
	}
	e.Skip(time.Hour)
	e.Drain()
	if got := strings.Join(order, " "); got != "critical second third fourth bulk" {
		t.Errorf("ran as %s", got)
	}
}

func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }

func TestHandlersSubmitMoreWork(t *testing.T) {
	t.Parallel()
	var e *belfrytest.Engine
	set := setOf(func(ctx context.Context, job *handler.Job[note]) error {
		if len(job.Payload.Text) == 3 {
			return nil
		}
		_, err := e.Submitter().Submit(ctx, core.NewJob{Type: "note", Payload: rawJSON(`{"text":"` + job.Payload.Text + `x"}`)})
		return err
	})
	e = belfrytest.New(t, set)
	e.Submit("note", nil)
	e.Drain()
	if n := len(e.Submitted("note", belfrytest.Status(core.Done))); n != 4 {
		t.Errorf("%d done, want 4", n)
	}
	e.RequireSubmitted("note", belfrytest.Payload(note{"xxx"}))
}

func TestPanicIsAnErrorOfTheJob(t *testing.T) {
	t.Parallel()
	e := belfrytest.New(t, setOf(func(context.Context, *handler.Job[note]) error { panic("at the disco") }))
	id := e.SubmitJob(core.NewJob{Type: "note", MaxAttempts: 1}).ID
	e.WaitFor(id, core.Failed)
	if failed := e.Errors(id); failed[0].Kind != core.KindPanic || !strings.Contains(failed[0].Error, "at the disco") {
		t.Errorf("errors %+v", failed)
	}
}

// TestClockStandsStill: real time does not move the clock.
func TestClockStandsStill(t *testing.T) {
	t.Parallel()
	start := time.Date(2020, 2, 29, 12, 0, 0, 1999, time.FixedZone("", 3600))
	e := belfrytest.NewWith(t, setOf(func(context.Context, *handler.Job[note]) error { return nil }), belfrytest.Options{Start: start})
	id := e.SubmitJob(core.NewJob{Type: "note", ExpiresAt: e.Now().Add(time.Minute)}).ID
	e.Drain()
	job := e.Job(id)
	want := start.Truncate(time.Microsecond)
	if !e.Now().Equal(want) || !job.CreatedAt.Equal(want) || !job.StartedAt.Equal(want) || !job.FinishedAt.Equal(want) {
		t.Errorf("at %s: created %s, started %s, finished %s", e.Now(), job.CreatedAt, job.StartedAt, job.FinishedAt)
	}
	e.Advance(1900 * time.Nanosecond)
	if got := e.Now().Sub(want); got != time.Microsecond {
		t.Errorf("advanced by %s", got)
	}
}

// TestTenantsTakeTurns: tenants share as in production.
func TestTenantsTakeTurns(t *testing.T) {
	t.Parallel()
	var order []string
	e := belfrytest.New(t, setOf(func(_ context.Context, job *handler.Job[note]) error {
		order = append(order, job.Tenant)
		return nil
	}))
	for _, tenant := range []string{"a", "a", "a", "a", "b"} {
		e.SubmitJob(core.NewJob{Type: "note", Tenant: tenant})
	}
	e.Drain()
	if len(order) != 5 || slices.Index(order, "b") > 2 {
		t.Errorf("ran in the order %q", order)
	}
}
