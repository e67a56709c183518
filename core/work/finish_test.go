package work

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// gathering is a store that records the sizes of finish batches and takes a while for each.
type gathering struct {
	*memStore
	mu    sync.Mutex
	sizes []int
	now   int
	most  int
}

func (s *gathering) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(ends))
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	return s.memStore.Finish(ctx, ends)
}

// TestFinishInBatches: many ends share few writes, two at a time, none above 2,000; a single end goes at once.
func TestFinishInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &gathering{memStore: newMemStore()}
		newRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{Slots: 5000})
		id := store.submit(t, core.NewJob{})
		time.Sleep(1100 * time.Millisecond)
		job := store.get(id)
		if took := job.FinishedAt.Sub(job.StartedAt); job.Status != core.Done || took > 12*time.Millisecond {
			t.Errorf("a single job is %s after %s", job.Status, took)
		}
		for range 20_000 {
			store.submit(t, core.NewJob{})
		}
		time.Sleep(time.Minute)
		if got := store.tally()[core.Done]; got != 20_001 {
			t.Fatalf("%d done", got)
		}
		store.mu.Lock()
		defer store.mu.Unlock()
		if len(store.sizes) > 40 || store.most != 2 {
			t.Errorf("20,000 ends in %d writes, %d at once", len(store.sizes), store.most)
		}
		for _, n := range store.sizes {
			if n > maxFinish {
				t.Errorf("a batch of %d", n)
			}
		}
	})
}

// TestManyEndsAreGathered: where many jobs end, ends that come one by one in quick succession share writes, although
// each write is over at once.
func TestManyEndsAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
			time.Sleep(time.Duration(40*max(job.ID-1000, 0)) * time.Microsecond)
			return nil
		}), Options{Slots: 3000, CriticalSlots: -1})
		for range 3000 {
			store.submit(t, core.NewJob{})
		}
		time.Sleep(10 * time.Second)
		if n, done := store.called("Finish"), store.tally()[core.Done]; n > 1000 || done != 3000 {
			t.Errorf("%d done in %d writes, want 3000 in 1000 at most", done, n)
		}
	})
}

// TestFinishBufferIsBounded: when ends cannot be recorded, claims stop before more than four per slot wait.
func TestFinishBufferIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{Slots: 10})
		store.setFaults(only("Finish", core.ErrUnavailable), nil)
		for range 200 {
			store.submit(t, core.NewJob{})
		}
		time.Sleep(time.Minute)
		if c := r.worker.Counts(); c.Finishing < 40 || c.Finishing >= 50 {
			t.Errorf("%d ends wait on 10 slots", c.Finishing)
		}
		store.setFaults(nil, nil)
		time.Sleep(time.Minute)
		if got := store.tally()[core.Done]; got != 200 {
			t.Errorf("%d done, want 200", got)
		}
	})
}

// TestBusyEndHoldsUpNoOther: an end whose row is in a stranger's transaction is sent again apart from the others.
func TestBusyEndHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
			if string(job.Payload) == `"locked"` {
				store.lock(job.ID, true)
			}
			return nil
		}), Options{})
		locked := store.submit(t, core.NewJob{Payload: []byte(`"locked"`)})
		time.Sleep(2 * time.Second)
		var others []int64
		for range 100 {
			others = append(others, store.submit(t, core.NewJob{}))
		}
		time.Sleep(1100 * time.Millisecond)
		for _, id := range others {
			if got := store.get(id).Status; got != core.Done {
				t.Errorf("job %d is %s", id, got)
			}
		}
		time.Sleep(3 * time.Minute) // three leases
		if job := store.get(locked); job.Status != core.Running {
			t.Errorf("the locked one is %s", job.Status)
		}
		store.lock(locked, false)
		time.Sleep(6 * time.Second)
		if job := store.get(locked); job.Status != core.Done || job.Attempts != 1 {
			t.Errorf("freed, it is %s after %d attempts", job.Status, job.Attempts)
		}
	})
}

// TestLostFinish: an end whose answer was lost is sent again and counted once.
func TestLostFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{})
		var lost atomic.Int64
		store.setFaults(nil, func(method string) error {
			if method == "Finish" && lost.Add(1) <= 4 {
				return core.ErrUnavailable
			}
			return nil
		})
		for range 10 {
			store.submit(t, core.NewJob{})
		}
		time.Sleep(30 * time.Second)
		if got := store.tally()[core.Done]; got != 10 || lost.Load() < 5 || r.told(EndStale) != 0 {
			t.Errorf("%d done, %d writes, %d told stale", got, lost.Load(), r.told(EndStale))
		}
		var sum core.Rollup
		for _, row := range store.counts {
			sum.Add(&row)
		}
		if sum.Starts != 10 || sum.Done != 10 {
			t.Errorf("counted %d starts, %d done", sum.Starts, sum.Done)
		}
	})
}

// poisoned is a store in which a write that holds one certain end always fails.
type poisoned struct {
	*memStore
	bad   int64
	fault error

	mu    sync.Mutex
	apart []core.RowFault
}

func (s *poisoned) SetApart(_ context.Context, faults []core.RowFault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apart = append(s.apart, faults...)
	return nil
}

func (s *poisoned) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	for _, e := range ends {
		if e.ID == s.bad {
			return nil, s.fault
		}
	}
	return s.memStore.Finish(ctx, ends)
}

// TestPoisonEndHoldsUpNoOther: an end that the store refuses does not keep its batch from being recorded, and is given
// up in the end, for its lease to run out.
func TestPoisonEndHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &poisoned{memStore: newMemStore(), bad: 37, fault: fmt.Errorf("%w: value out of range", core.ErrRow)}
		for range 100 {
			store.submit(t, core.NewJob{})
		}
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{})
		time.Sleep(40 * time.Millisecond) // ends are gathered for 25 ms at most
		synctest.Wait()
		if got := store.tally()[core.Done]; got != 99 {
			t.Errorf("%d done, want 99", got)
		}
		store.mu.Lock()
		if len(store.apart) != 1 || store.apart[0].ID != 37 || store.apart[0].Act != core.ActFinish || r.told(EndRefused) != 1 {
			t.Errorf("set apart %+v, told %d: want it named at the first refusal", store.apart, r.told(EndRefused))
		}
		store.mu.Unlock()
		time.Sleep(5 * time.Minute)
		if c := r.worker.Counts(); r.told(EndDropped) != 1 || c.Finishing != 0 {
			t.Errorf("dropped %d, %d waiting", r.told(EndDropped), c.Finishing)
		}
		store.reap()
		if job := store.get(37); job.Status != core.Scheduled || job.Errors[0].Kind != core.KindLost {
			t.Errorf("the one given up is %s", job.Status)
		}
	})
}

// TestRollupsCountEverything: starts, ends by outcome and lags, per priority and type, also when some writes fail.
func TestRollupsCountEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
			switch string(job.Payload) {
			case `"fail"`:
				return core.Permanent(errors.New("no"))
			case `"retry"`:
				if job.Attempts == 1 {
					return core.RetryAfter(errors.New("no"), time.Second)
				}
			case `"snooze"`:
				if job.Snoozes == 0 {
					return core.Snooze(time.Second)
				}
			case `"cancel"`:
				store.cancel(job.ID)
				return errors.New("no")
			}
			return nil
		}), Options{})
		var calls atomic.Int64
		store.setFaults(func(method string) error {
			if method == "AddRollups" && calls.Add(1)%2 == 1 {
				return core.ErrUnavailable
			}
			return nil
		}, nil)
		for _, payload := range []string{`1`, `"fail"`, `"retry"`, `"snooze"`, `"cancel"`} {
			for range 3 {
				store.submit(t, core.NewJob{Payload: []byte(payload), Priority: core.Bulk})
			}
		}
		store.submit(t, core.NewJob{Type: "other", Delay: 2 * time.Second})
		time.Sleep(10 * time.Second)
		late := store.submit(t, core.NewJob{RunAt: time.Now().Add(-2 * time.Minute)})
		time.Sleep(1100 * time.Millisecond)
		store.setFaults(nil, nil)
		if _, err := r.end(); err != nil {
			t.Fatal(err)
		}
		type lane struct {
			priority core.Priority
			typ      string
		}
		sums := map[lane]*core.Rollup{}
		for _, row := range store.counts {
			if row.Minute.Truncate(time.Minute) != row.Minute {
				t.Errorf("minute %s", row.Minute)
			}
			key := lane{row.Priority, row.Type}
			if sums[key] == nil {
				sums[key] = &core.Rollup{}
			}
			sums[key].Add(&row)
		}
		bulk := sums[lane{core.Bulk, "work"}]
		if bulk.Starts != 21 || bulk.Done != 9 || bulk.Failed != 3 || bulk.Retried != 3 || bulk.Snoozed != 3 || bulk.Cancelled != 3 {
			t.Errorf("bulk: %+v", *bulk)
		}
		if other := sums[lane{core.Default, "other"}]; other == nil || other.Starts != 1 || other.Done != 1 {
			t.Errorf("other: %+v", other)
		}
		def := sums[lane{core.Default, "work"}]
		if store.get(late).Status != core.Done || def.Lag[core.LagBucket(2*time.Minute)] != 1 || def.LagSum < (2*time.Minute).Microseconds() {
			t.Errorf("the late one: %+v", *def)
		}
	})
}
