package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// only fails calls of one method.
func only(method string, err error) func(string) error {
	return func(m string) error {
		if m == method {
			return err
		}
		return nil
	}
}

// TestFailingHeartbeats: while heartbeats fail the worker claims nothing and stops its handlers before their leases
// end. When the store answers again, it registers under a new id and goes on.
func TestFailingHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		var mu sync.Mutex
		var stoppedAt time.Time
		var cause error
		r := newRig(t, store, handle(func(ctx context.Context, _ *core.Job) error {
			<-ctx.Done()
			mu.Lock()
			defer mu.Unlock()
			stoppedAt, cause = time.Now(), context.Cause(ctx)
			return ctx.Err()
		}), Options{})
		id := store.submit(t, core.NewJob{Timeout: time.Hour, Backoff: []time.Duration{time.Hour}})
		time.Sleep(30 * time.Second) // one heartbeat has succeeded
		store.setFaults(func(method string) error {
			if method == "Heartbeat" || method == "Announce" {
				return core.ErrUnavailable
			}
			return nil
		}, nil)
		time.Sleep(15 * time.Second) // two have failed
		claims := store.called("ClaimDue")
		leaseEnd := store.get(id).LeaseUntil
		time.Sleep(45 * time.Second)
		if n := store.called("ClaimDue") - claims; n != 0 {
			t.Errorf("%d claims while heartbeats fail", n)
		}
		mu.Lock()
		if !errors.Is(cause, core.ErrLeaseLost) || !stoppedAt.Before(leaseEnd) || stoppedAt.Before(leaseEnd.Add(-10*time.Second)) {
			t.Errorf("stopped at %s by %v, lease to %s", stoppedAt, cause, leaseEnd)
		}
		mu.Unlock()
		if r.told(StoreLost) != 1 || r.told(LeaseLost) != 1 {
			t.Errorf("told %d outages, %d lost leases", r.told(StoreLost), r.told(LeaseLost))
		}
		// The attempt was given back uncounted, so the job is due; nobody claims it until the worker is back.
		if job := store.get(id); job.Status != core.Scheduled || job.Attempts != 0 {
			t.Errorf("the job is %s after %d attempts", job.Status, job.Attempts)
		}
		store.setFaults(nil, nil)
		time.Sleep(15 * time.Second)
		if job := store.get(id); job.Status != core.Running || job.WorkerID == "w" {
			t.Errorf("after the outage the job is %s, worker %q", job.Status, job.WorkerID)
		}
		if len(store.names) != 2 || r.told(Registered) != 1 || r.told(StoreBack) != 1 {
			t.Errorf("ids %q, registered %d times", store.names, r.told(Registered))
		}
	})
}

// TestLeasesOfAllThatIsHeld: a worker claims no more jobs than it has slots, and its heartbeats keep every lease alive,
// including those of jobs whose end waits to be recorded.
func TestLeasesOfAllThatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		var running, most atomic.Int32
		newRig(t, store, handle(func(context.Context, *core.Job) error {
			n := running.Add(1)
			defer running.Add(-1)
			most.Store(max(n, most.Load()))
			time.Sleep(40 * time.Second)
			return nil
		}), Options{Slots: 3, CriticalSlots: -1})
		for range 9 {
			store.submit(t, core.NewJob{})
		}
		late := 0
		check := func() {
			store.mu.Lock()
			defer store.mu.Unlock()
			for _, j := range store.jobs {
				if j.Status == core.Running && j.LeaseUntil.Before(store.now()) {
					late++
				}
			}
		}
		for range 42 {
			check()
			time.Sleep(time.Second)
		}
		store.setFaults(only("Finish", core.ErrUnavailable), nil) // the second three end, and cannot be recorded
		for range 200 {
			check()
			time.Sleep(time.Second)
		}
		if n := most.Load(); n != 3 {
			t.Errorf("%d handlers at once on 3 slots", n)
		}
		if late > 0 {
			t.Errorf("a lease had passed %d times", late)
		}
		store.setFaults(nil, nil)
		time.Sleep(3 * time.Minute)
		if got := store.tally()[core.Done]; got != 9 {
			t.Errorf("%d done, want 9", got)
		}
	})
}

// TestLostWorkerCounts: however many workers die with a job, it loses one attempt.
func TestLostWorkerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		id := store.submit(t, core.NewJob{Type: "work", MaxAttempts: 2, Backoff: []time.Duration{time.Minute}})
		dies := core.ClaimRequest{WorkerID: "dies", ClaimID: 1, Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "work", Limit: 1}}}
		for loss, want := range []core.Status{core.Scheduled, core.Scheduled, core.Scheduled, core.Scheduled, core.Failed} {
			if res, err := store.ClaimDue(t.Context(), dies); err != nil || len(res.Jobs) != 1 || res.Jobs[0].Attempts != min(loss+1, 2) {
				t.Fatalf("claim %d: %v, %v", loss+1, res.Jobs, err)
			}
			store.reap()
			if got := store.get(id).Status; got != core.Running {
				t.Fatalf("reaped under a live lease: %s", got)
			}
			time.Sleep(61 * time.Second)
			store.reap()
			attempts := 1
			if want == core.Failed {
				attempts = 2
			}
			if job := store.get(id); job.Status != want || job.Attempts != attempts || job.Losses() != loss+1 {
				t.Fatalf("after lease %d: %s, %d attempts, %+v", loss+1, job.Status, job.Attempts, job.Errors)
			}
			time.Sleep(2 * time.Minute)
		}
	})
}

// TestStaleHeartbeatStopsTheHandler: when the row is another's, its handler is told at the next heartbeat and its end
// changes nothing.
func TestStaleHeartbeatStopsTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		cause := make(chan error, 1)
		r := newRig(t, store, handle(func(ctx context.Context, _ *core.Job) error {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return nil
		}), Options{})
		id := store.submit(t, core.NewJob{Timeout: time.Hour})
		time.Sleep(5 * time.Second)
		store.mu.Lock()
		store.jobs[id].LeaseToken++ // reaped and started elsewhere
		store.mu.Unlock()
		time.Sleep(20 * time.Second)
		if err := <-cause; !errors.Is(err, core.ErrLeaseLost) {
			t.Errorf("cause %v", err)
		}
		if job := store.get(id); job.Status != core.Running {
			t.Errorf("the other's job became %s", job.Status)
		}
		if c := r.worker.Counts(); r.told(EndStale) != 1 || c.LostLeases != 1 || c.Running+c.Finishing != 0 {
			t.Errorf("told %d stale ends; %+v", r.told(EndStale), c)
		}
	})
}

// TestBusyHeartbeatIsRepeated: a row in a foreign transaction keeps its own lease from being extended, no other's,
// and is asked for again before the next heartbeat.
func TestBusyHeartbeatIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		newRig(t, store, handle(func(ctx context.Context, _ *core.Job) error { <-ctx.Done(); return ctx.Err() }), Options{})
		held, free := store.submit(t, core.NewJob{Timeout: time.Hour}), store.submit(t, core.NewJob{Timeout: time.Hour})
		time.Sleep(15 * time.Second)
		store.lock(held, true)
		time.Sleep(15 * time.Second)
		store.lock(held, false)
		time.Sleep(3 * time.Second)
		since := time.Now().Add(time.Minute - 5*time.Second)
		if until := store.get(held).LeaseUntil; until.Before(since) {
			t.Errorf("the row was free for 3s and its lease ends in %s", time.Until(until))
		}
		time.Sleep(3 * time.Minute)
		for _, id := range []int64{held, free} {
			if job := store.get(id); job.Status != core.Running || job.Attempts != 1 {
				t.Errorf("job %d: %s after %d attempts", id, job.Status, job.Attempts)
			}
		}
	})
}

// TestCancel: a cancel is heard at the next heartbeat or at once by Poke, a job that was cancelled is
// not tried again though attempts are left, and one that finishes all the same is done.
func TestCancel(t *testing.T) {
	for _, poke := range []bool{false, true} {
		t.Run(fmt.Sprint("poke ", poke), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemStore()
				cause := make(chan error, 2)
				r := newRig(t, store, handle(func(ctx context.Context, _ *core.Job) error {
					<-ctx.Done()
					cause <- context.Cause(ctx)
					return ctx.Err()
				}), Options{})
				id := store.submit(t, core.NewJob{Timeout: time.Hour})
				other := store.submit(t, core.NewJob{Timeout: time.Hour})
				time.Sleep(3 * time.Second)
				store.cancel(id)
				if poke {
					r.worker.Poke(id)
					r.worker.Poke(987654)
					time.Sleep(time.Millisecond)
				} else {
					time.Sleep(20 * time.Second)
				}
				err := <-cause
				if job := store.get(id); job.Status != core.Cancelled || job.Attempts != 1 || !errors.Is(err, core.ErrCancelWanted) {
					t.Errorf("%s after %d attempts, cause %v", job.Status, job.Attempts, err)
				}
				if got := store.get(other).Status; got != core.Running {
					t.Errorf("the other job is %s", got)
				}
			})
		})
	}
	t.Run("between the last look and the finish", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newMemStore()
			newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
				store.cancel(job.ID)
				if string(job.Payload) == `"ok"` {
					return nil
				}
				return errors.New("no")
			}), Options{})
			ok, fails := store.submit(t, core.NewJob{Payload: []byte(`"ok"`)}), store.submit(t, core.NewJob{})
			time.Sleep(time.Hour)
			if a, b := store.get(ok).Status, store.get(fails); a != core.Done || b.Status != core.Cancelled || b.Attempts != 1 {
				t.Errorf("the one that finished is %s, the one that failed %s after %d attempts", a, b.Status, b.Attempts)
			}
		})
	})
	t.Run("between claimed and entered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newMemStore()
			store.after = func(method string) error {
				if method == "ClaimDue" {
					store.cancel(1)
				}
				return nil
			}
			id := store.submit(t, core.NewJob{})
			newRig(t, store, handle(func(ctx context.Context, _ *core.Job) error { <-ctx.Done(); return ctx.Err() }), Options{})
			time.Sleep(time.Minute)
			if job := store.get(id); job.Status != core.Cancelled || job.Attempts != 1 {
				t.Errorf("%s after %d attempts", job.Status, job.Attempts)
			}
		})
	})
}

// TestHeartbeatsAreBatched: 5,000 running jobs take three calls, none of more than 2,000.
func TestHeartbeatsAreBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		var sizes []int
		store.onBeat = func(refs []core.Ref) { sizes = append(sizes, len(refs)) }
		newRig(t, store, handle(func(context.Context, *core.Job) error { time.Sleep(25 * time.Second); return nil }), Options{Slots: 5000, CriticalSlots: -1})
		for range 5000 {
			store.submit(t, core.NewJob{})
		}
		time.Sleep(time.Minute)
		slices.Sort(sizes)
		if !slices.Equal(sizes, []int{1000, 2000, 2000}) {
			t.Errorf("heartbeats of %v", sizes)
		}
		if got := store.tally()[core.Done]; got != 5000 {
			t.Errorf("%d done", got)
		}
	})
}

// TestLeaseLeft: the clock that ran further decides.
func TestLeaseLeft(t *testing.T) {
	w, err := New(newMemStore(), handle(func(context.Context, *core.Job) error { return nil }), Options{ID: "w"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ monotonic, wall, want time.Duration }{
		{10 * time.Second, 10 * time.Second, 50 * time.Second},
		{10 * time.Second, 10 * time.Minute, -9 * time.Minute}, // the machine slept, or the clock was put forward
		{70 * time.Second, -time.Hour, -10 * time.Second},      // the clock was put back
	} {
		if got := w.leaseAfter(c.monotonic, c.wall); got != c.want {
			t.Errorf("monotonic %s, wall %s: %s left, want %s", c.monotonic, c.wall, got, c.want)
		}
	}
}
