package work

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
)

// TestAdvanceBringsTimeoutsNearer: a host that moves the store's clock ends attempts by that clock, and their
// errors bear its time.
func TestAdvanceBringsTimeoutsNearer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		cause := make(chan error, 1)
		r := newRig(t, store, handle(func(ctx context.Context, _ *core.Job) error {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return errors.New("stopped")
		}), Options{})
		id := store.submit(t, core.NewJob{Timeout: time.Hour, Backoff: []time.Duration{24 * time.Hour}})
		time.Sleep(time.Second)
		started := store.get(id).StartedAt

		r.worker.Advance(59 * time.Minute)
		synctest.Wait()
		if len(cause) > 0 {
			t.Fatal("the attempt ended before its timeout")
		}
		r.worker.Advance(time.Minute)
		synctest.Wait()
		if len(cause) == 0 {
			t.Fatal("the attempt goes on after its timeout")
		}
		if got := <-cause; !errors.Is(got, core.ErrTimeout) {
			t.Errorf("cause %v, want the timeout", got)
		}
		time.Sleep(time.Second)
		job := store.get(id)
		if len(job.Errors) != 1 || job.Errors[0].Kind != core.KindTimeout || job.Errors[0].At.Sub(started) < time.Hour {
			t.Errorf("errors %+v, want a timeout an hour after %s", job.Errors, started)
		}
	})
}

// TestAdvanceGivesUpWhatIgnoresItsTimeout: the grace passes by the host's clock too.
func TestAdvanceGivesUpWhatIgnoresItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		release := make(chan struct{})
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { <-release; return nil }), Options{})
		defer close(release)
		id := store.submit(t, core.NewJob{Timeout: time.Hour, Backoff: []time.Duration{24 * time.Hour}})
		time.Sleep(time.Second)

		r.worker.Advance(time.Hour + 10*time.Second)
		synctest.Wait()
		if job := store.get(id); job.Status != core.Scheduled || r.worker.Counts().Leaked != 1 {
			t.Errorf("%s, %d leaked; want it given up", job.Status, r.worker.Counts().Leaked)
		}
	})
}

// TestSubmitterGoesByItsClock: what may be submitted is decided by the clock the Submitter is given.
func TestSubmitterGoesByItsClock(t *testing.T) {
	then := time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)
	s := submit.New(newMemStore(), submit.Options{Now: func() time.Time { return then }})
	job := core.NewJob{Type: "work", RunAt: then.Add(time.Hour), ExpiresAt: then.Add(2 * time.Hour)}
	if _, err := s.Submit(t.Context(), job); err != nil {
		t.Errorf("a job of that time: %v", err)
	}
	if _, err := s.SubmitBatch(t.Context(), []core.NewJob{job}); err != nil {
		t.Errorf("a batch of that time: %v", err)
	}
	job.ExpiresAt = then.Add(-time.Hour)
	if _, err := s.Submit(t.Context(), job); err == nil {
		t.Error("a job that had expired by then was accepted")
	}
}
