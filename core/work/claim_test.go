package work

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
)

// TestClaimIsPunctual: a job that lies ahead starts when it is due, not at the next poll.
func TestClaimIsPunctual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		lags := make(chan time.Duration, 1)
		newRig(t, store, handle(func(_ context.Context, job *core.Job) error { lags <- time.Since(job.RunAt); return nil }), Options{})
		store.submit(t, core.NewJob{Delay: 12345678 * time.Microsecond})
		if lag := <-lags; lag > time.Millisecond {
			t.Errorf("started %s late", lag)
		}
	})
}

// TestWakeClaimsAtOnce: a job submitted in this process does not wait for the poll.
func TestWakeClaimsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		started := make(chan time.Time, 1)
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { started <- time.Now(); return nil }), Options{})
		time.Sleep(10500 * time.Millisecond)
		s := submit.New(store, submit.Options{Wake: r.worker.Wake})
		began := time.Now()
		if _, err := s.Submit(t.Context(), core.NewJob{Type: "work"}); err != nil {
			t.Fatal(err)
		}
		if took := (<-started).Sub(began); took > 5*time.Millisecond {
			t.Errorf("started after %s", took)
		}
	})
}

// TestIdleIsQuiet: an idle worker claims once a poll, says twice a minute that it is there, and does nothing else.
func TestIdleIsQuiet(t *testing.T) {
	for _, slots := range []int{1000, 6} {
		synctest.Test(t, func(t *testing.T) {
			store := newMemStore()
			newRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{Slots: slots})
			time.Sleep(10 * time.Second)
			store.mu.Lock()
			clear(store.calls)
			store.mu.Unlock()
			time.Sleep(100 * time.Second)
			store.mu.Lock()
			defer store.mu.Unlock()
			if n := store.calls["ClaimDue"]; n > 101 || store.calls["Announce"] > 4 || len(store.calls) != 2 {
				t.Errorf("%d slots: calls in 100 idle seconds: %v", slots, store.calls)
			}
		})
	}
}

// TestFewSlotsManyLanes: one slot and many lanes: every lane is asked in a round, so none waits for long.
func TestFewSlotsManyLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		handlers := core.Handlers{}
		ran := make(chan time.Time, 1)
		for i := range 20 {
			handlers[fmt.Sprint("t", i)] = handle(func(context.Context, *core.Job) error { ran <- time.Now(); return nil })["work"]
		}
		newRig(t, store, handlers, Options{Slots: 1})
		for _, p := range core.Priorities {
			for _, typ := range []string{"t0", "t11", "t19"} {
				time.Sleep(10 * time.Second)
				began := time.Now()
				store.submit(t, core.NewJob{Type: typ, Priority: p})
				if took := (<-ran).Sub(began); took > 1300*time.Millisecond {
					t.Errorf("%s %s started after %s", p, typ, took)
				}
			}
		}
	})
}

// TestDueButLockedIsNotHammered: rows that are due and in a stranger's transaction are asked for now and then, and run
// soon after they are free.
func TestDueButLockedIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		id := store.submit(t, core.NewJob{})
		store.lock(id, true)
		newRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{})
		time.Sleep(10 * time.Second)
		if n := store.called("ClaimDue"); n > 200 {
			t.Errorf("%d claims in 10s", n)
		}
		store.lock(id, false)
		time.Sleep(1100 * time.Millisecond)
		if got := store.get(id).Status; got != core.Done {
			t.Errorf("free for a second and %s", got)
		}
	})
}

// TestEndlessCriticalBacklog: bulk starts at its weight's share beside critical jobs without end, however few slots.
func TestEndlessCriticalBacklog(t *testing.T) {
	for _, slots := range []int{1, 2, 10, 100} {
		t.Run(fmt.Sprint(slots, " slots"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemStore()
				var n [core.Bulk + 1]atomic.Int64
				newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
					n[job.Priority].Add(1)
					time.Sleep(50 * time.Millisecond)
					return nil
				}), Options{Slots: slots, CriticalSlots: -1})
				for range 400 * slots {
					for _, p := range []core.Priority{core.Critical, core.Default, core.Bulk} {
						store.submit(t, core.NewJob{Priority: p})
					}
				}
				time.Sleep(20 * time.Second)
				critical, def, bulk := n[core.Critical].Load(), n[core.Default].Load(), n[core.Bulk].Load()
				total := float64(critical + def + bulk)
				if total < 250*float64(slots) {
					t.Errorf("%d slots were used for %v jobs of 50ms in 20s", slots, total)
				}
				if part := float64(bulk) / total; part < 0.085 || part > 0.115 {
					t.Errorf("bulk had %.3f of the starts, want 0.1 (critical %d, default %d)", part, critical, def)
				}
				if part := float64(def) / total; part < 0.27 || part > 0.33 {
					t.Errorf("default had %.3f of the starts, want 0.3", part)
				}
			})
		})
	}
}

// TestCriticalSlots: critical jobs find their slots although long bulk jobs hold all others.
func TestCriticalSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		var bulk atomic.Int64
		started := make(chan time.Time, 10)
		newRig(t, store, handle(func(ctx context.Context, job *core.Job) error {
			if job.Priority == core.Critical {
				started <- time.Now()
				return nil
			}
			bulk.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}), Options{Slots: 20, CriticalSlots: 2})
		for range 50 {
			store.submit(t, core.NewJob{Priority: core.Bulk})
		}
		time.Sleep(time.Minute)
		if got := bulk.Load(); got != 18 {
			t.Errorf("%d bulk jobs on 18 slots", got)
		}
		claims := store.called("ClaimDue")
		time.Sleep(10 * time.Second)
		if n := store.called("ClaimDue") - claims; n > 11 {
			t.Errorf("%d claims in 10s with no slot for what waits", n)
		}
		began := time.Now()
		for range 5 {
			store.submit(t, core.NewJob{Priority: core.Critical})
		}
		for range 5 {
			if took := (<-started).Sub(began); took > 1100*time.Millisecond {
				t.Errorf("a critical job started after %s", took)
			}
		}
	})
}

// TestLateCommitIsFound: a row committed late with a run_at behind the mark starts by the next full-range claim.
func TestLateCommitIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		started := make(chan time.Time, 1)
		newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
			if string(job.Payload) == `"late"` {
				started <- time.Now()
			}
			time.Sleep(10 * time.Millisecond)
			return nil
		}), Options{Slots: 10})
		past := time.Now()
		time.Sleep(time.Second)
		for range 5000 {
			store.submit(t, core.NewJob{})
		}
		time.Sleep(2100 * time.Millisecond)
		began := time.Now()
		store.submit(t, core.NewJob{RunAt: past, Payload: []byte(`"late"`)})
		if took := (<-started).Sub(began); took > 1100*time.Millisecond {
			t.Errorf("started after %s", took)
		}
		if left := store.tally()[core.Scheduled]; left == 0 {
			t.Error("there was no backlog: nothing was shown")
		}
	})
}

// TestLostClaim: a claim whose answer is lost is read back: its jobs run once, each charged once.
func TestLostClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		var entered sync.Map
		r := newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
			if _, twice := entered.LoadOrStore(job.ID, true); twice {
				t.Errorf("job %d entered twice", job.ID)
			}
			return nil
		}), Options{Slots: 10})
		time.Sleep(time.Second)
		var claims atomic.Int64
		store.setFaults(nil, func(method string) error {
			if method == "ClaimDue" && claims.Add(1) <= 3 {
				return core.ErrUnavailable
			}
			return nil
		})
		for range 25 {
			store.submit(t, core.NewJob{})
		}
		time.Sleep(30 * time.Second)
		for id := int64(1); id <= 25; id++ {
			if job := store.get(id); job.Status != core.Done || job.Attempts != 1 {
				t.Errorf("job %d: %s after %d attempts", id, job.Status, job.Attempts)
			}
		}
		if c := r.worker.Counts(); claims.Load() < 4 || c.Running != 0 {
			t.Errorf("%d claims, %+v", claims.Load(), c)
		}
	})
}

// lateStore loses a claim before it is carried out, and finds nothing more until it is carried out after all.
type lateStore struct {
	*memStore
	lost chan core.ClaimRequest
}

func (s *lateStore) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	select {
	case s.lost <- req:
		return core.ClaimResult{}, core.ErrUnavailable
	default:
		return core.ClaimResult{Now: s.now(), Taken: make([]core.Taken, len(req.Quotas)), DueIn: time.Hour}, nil
	}
}

// TestLostClaimThatCommitsLate: what a lost claim commits after it was read back is handed back, not charged.
func TestLostClaimThatCommitsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &lateStore{memStore: newMemStore(), lost: make(chan core.ClaimRequest, 1)}
		var entered atomic.Int64
		newRig(t, store, handle(func(context.Context, *core.Job) error { entered.Add(1); return nil }), Options{StoreTimeout: 10 * time.Second})
		id := store.submit(t, core.NewJob{})
		time.Sleep(3 * time.Second)
		if _, err := store.memStore.ClaimDue(t.Context(), <-store.lost); err != nil {
			t.Fatal(err)
		}
		if job := store.get(id); job.Status != core.Running || job.Attempts != 1 {
			t.Fatalf("the late claim left the job %s", job.Status)
		}
		store.lost <- core.ClaimRequest{} // no more losses
		time.Sleep(12 * time.Second)
		if job := store.get(id); job.Status != core.Scheduled || job.Attempts != 0 || entered.Load() != 0 {
			t.Errorf("%s after %d attempts, entered %d times", job.Status, job.Attempts, entered.Load())
		}
	})
}
