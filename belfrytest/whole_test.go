package belfrytest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

// TestHandlersOnTheEngine: the promises of package handler show in the job's row.
func TestHandlersOnTheEngine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	set := handler.NewSet(handler.SetOptions{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	handler.Register(set, "note", func(ctx context.Context, job *handler.Job[note]) error {
		handler.Logger(ctx).InfoContext(ctx, "working")
		switch job.Payload.Text {
		case "large":
			job.SetResult(strings.Repeat("x", core.MaxResultBytes))
		case "nul":
			job.SetResult("a\x00b")
		default:
			job.SetResult(map[string]string{"text": job.Payload.Text})
		}
		return nil
	})
	e := belfrytest.New(t, set)
	kept, large, nul := e.Submit("note", note{"ok"}), e.Submit("note", note{"large"}), e.Submit("note", note{"nul"})
	wrong := e.Submit("note", rawJSON(`{"text": 1}`))
	e.Skip(90 * time.Second)
	e.Drain()
	if job := e.Job(kept); job.Status != core.Done || string(job.Result) != `{"text":"ok"}` {
		t.Errorf("%s with result %s", job.Status, job.Result)
	}
	for id, want := range map[int64]string{
		large: "result: 65538 bytes, at most 65536 are kept",
		nul:   `result: holds \u0000 at byte 2, which cannot be kept`,
		wrong: "payload: text: must be a string, not a number",
	} {
		failed := e.Errors(id)
		if e.Job(id).Status != core.Failed || len(failed) != 1 || failed[0].Kind != core.KindPermanent || failed[0].Error != want {
			t.Errorf("job %d is %s with errors %+v, want %q", id, e.Job(id).Status, failed, want)
		}
	}
	if want := fmt.Sprintf("job.id=%d job.type=note job.attempt=1 job.priority=default job.schedule_lag=1m30s\n", kept); !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in the log:\n%s", want, out.String())
	}
}

// TestTheSameRunTwice: two engines with the same work do the same things at the same instants in the same order.
func TestTheSameRunTwice(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	first, second := trace(t, seed), trace(t, seed)
	if !slices.IsSortedFunc(first, func(a, b string) int { return strings.Compare(a[:12], b[:12]) }) {
		t.Errorf("seed %d: time goes back: %q", seed, first)
	}
	slices.Sort(first) // the order of two lanes at one instant is not defined
	slices.Sort(second)
	if len(first) < 35 {
		t.Errorf("seed %d: %d attempts only", seed, len(first))
	}
	for i := range min(len(first), len(second)) {
		if first[i] != second[i] {
			t.Fatalf("seed %d: attempt %d is once %s, once %s", seed, i, first[i], second[i])
		}
	}
	if len(first) != len(second) {
		t.Errorf("seed %d: once %d attempts, once %d", seed, len(first), len(second))
	}
}

// trace runs random work and describes each attempt: when, which job, which attempt.
func trace(t *testing.T, seed uint64) (all []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	var e *belfrytest.Engine
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	work := func(ctx context.Context, job *handler.Job[note]) error {
		all = append(all, fmt.Sprintf("%012d job %d attempt %d snooze %d", e.Now().Sub(start).Milliseconds(), job.ID, job.Attempts, job.Snoozes))
		switch (job.ID + int64(job.Attempts)) % 5 {
		case 0:
			return errors.New("again")
		case 1:
			if job.Snoozes == 0 {
				return handler.Snooze(time.Duration(job.ID) * time.Second)
			}
		case 2:
			if job.ID < 50 {
				_, err := e.Submitter().Submit(ctx, core.NewJob{Type: "memo", Delay: time.Duration(job.ID%3) * time.Minute})
				return err
			}
		case 3:
			return handler.RetryAfter(nil, 7*time.Second)
		}
		return nil
	}
	set := setOf(work)
	handler.Register(set, "memo", work)
	e = belfrytest.NewWith(t, set, belfrytest.Options{Start: start})
	for range 25 {
		e.SubmitJob(core.NewJob{
			Type: []string{"note", "memo"}[random.IntN(2)], Priority: core.Priorities[random.IntN(3)],
			Tenant: []string{"", "", "a", "b"}[random.IntN(4)], Delay: time.Duration(random.IntN(5)) * time.Minute,
		})
		if random.IntN(10) == 0 {
			e.Advance(time.Duration(random.IntN(90)) * time.Second)
		}
	}
	e.Advance(2 * time.Hour)
	return all
}
