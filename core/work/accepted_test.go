package work

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// TestAccepted: an attempt that goes on elsewhere frees its slot, is extended and handed back by nobody here, and its
// lease lasts as long as its job's timeout, or the worker's.
func TestAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { return core.ErrAccepted }), Options{Slots: 1, Timeout: time.Hour})
		named := store.submit(t, core.NewJob{Timeout: 2 * time.Hour})
		plain := store.submit(t, core.NewJob{})
		time.Sleep(10 * time.Second)
		for id, timeout := range map[int64]time.Duration{named: 2 * time.Hour, plain: time.Hour} {
			job := store.get(id)
			if left := job.LeaseUntil.Sub(job.StartedAt) - timeout; job.Status != core.Running || job.WorkerID != core.TargetWorkerID || left < 0 || left > time.Second {
				t.Errorf("%s by %q until %s, want it running until %s after %s", job.Status, job.WorkerID, job.LeaseUntil, timeout, job.StartedAt)
			}
		}
		if c := r.worker.Counts(); c.Running != 0 || c.Finishing != 0 {
			t.Errorf("counts %+v", c)
		}
		before := store.get(named)
		store.mu.Lock()
		store.onBeat = func(refs []core.Ref) {
			if slices.ContainsFunc(refs, func(r core.Ref) bool { return r.ID == named || r.ID == plain }) {
				t.Error("an accepted attempt is extended by its worker")
			}
		}
		store.mu.Unlock()
		time.Sleep(5 * time.Minute)
		if _, err := r.end(); err != nil {
			t.Error(err)
		}
		if job := store.get(named); job.Status != core.Running || job.LeaseToken != before.LeaseToken || !job.LeaseUntil.Equal(before.LeaseUntil) {
			t.Errorf("after the worker's stop: %+v", job)
		}
		for _, row := range store.counts {
			if row.Done+row.Failed+row.Retried+row.Cancelled+row.Snoozed != 0 {
				t.Errorf("counted as ended: %+v", row)
			}
		}
	})
}

// TestAcceptedAfterTheTargetsOwnEnd: that is success, not an end that came too late.
func TestAcceptedAfterTheTargetsOwnEnd(t *testing.T) {
	for name, outcome := range map[string]core.Outcome{"done": core.EndDone, "retry": core.EndRetry, "retry and another run": core.EndRetry} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemStore()
				runs := 0
				r := newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
					if runs++; runs > 1 {
						return nil
					}
					store.mu.Lock()
					defer store.mu.Unlock()
					store.finish(&core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: outcome, Wait: time.Minute})
					if name == "retry and another run" {
						store.jobs[job.ID].EndedToken++ // which has ended, too
					}
					return core.ErrAccepted
				}), Options{})
				id := store.submit(t, core.NewJob{})
				time.Sleep(10 * time.Second)
				if job := store.get(id); job.Status != map[core.Outcome]core.Status{core.EndDone: core.Done, core.EndRetry: core.Scheduled}[outcome] {
					t.Errorf("the job is %s", job.Status)
				}
				time.Sleep(2 * time.Minute)
				if job := store.get(id); job.Status != core.Done {
					t.Errorf("in the end the job is %s", job.Status)
				}
				_, _ = r.end()
				counted := int64(0)
				for _, row := range store.counts {
					counted += row.Done
				}
				if want := int64(runs - 1); counted != want {
					t.Errorf("%d ends counted by the worker, want %d", counted, want)
				}
				if n := r.told(EndStale) + r.told(LeaseLost); n != 0 {
					t.Errorf("%d ends said to be stale", n)
				}
			})
		})
	}
}

// TestAcceptedThroughAnOutage: the acceptance is sent until the store has it, and its attempt is extended until then.
func TestAcceptedThroughAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		newRig(t, store, handle(func(context.Context, *core.Job) error { return core.ErrAccepted }), Options{})
		store.setFaults(only("Finish", errors.Join(core.ErrUnavailable)), nil)
		id := store.submit(t, core.NewJob{})
		for range 20 {
			time.Sleep(10 * time.Second)
			store.reap()
		}
		if job := store.get(id); job.Status != core.Running || job.WorkerID != "w" {
			t.Fatalf("meanwhile: %s by %q", job.Status, job.WorkerID)
		}
		store.setFaults(nil, nil)
		time.Sleep(10 * time.Second)
		if job := store.get(id); job.Status != core.Running || job.WorkerID != core.TargetWorkerID {
			t.Errorf("afterwards: %s by %q", job.Status, job.WorkerID)
		}
	})
}
