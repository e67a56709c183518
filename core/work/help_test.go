package work

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// slowClaims is a memStore whose claims take a while and are watched.
type slowClaims struct {
	*memStore
	under, most   atomic.Int64 // claims at a time
	holds, mostly atomic.Int64 // rows claimed whose handler has not returned
}

func (s *slowClaims) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	raise(&s.most, s.under.Add(1))
	defer s.under.Add(-1)
	time.Sleep(10 * time.Millisecond)
	res, err := s.memStore.ClaimDue(ctx, req)
	raise(&s.mostly, s.holds.Add(int64(len(res.Jobs))))
	return res, err
}

func raise(most *atomic.Int64, n int64) {
	for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
	}
}

// TestSecondClaimLoop: under a backlog two claims overlap, together they take no more than the free slots, and
// afterwards one alone is left.
func TestSecondClaimLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, jobs = 64, 5_000
		store := &slowClaims{memStore: newMemStore()}
		for range jobs {
			store.submit(t, core.NewJob{})
		}
		var done atomic.Int64
		newRig(t, store, handle(func(context.Context, *core.Job) error {
			time.Sleep(5 * time.Millisecond)
			store.holds.Add(-1)
			done.Add(1)
			return nil
		}), Options{Slots: slots, CriticalSlots: -1})
		time.Sleep(5 * time.Second)
		if done.Load() != jobs {
			t.Fatalf("%d of %d jobs were run", done.Load(), jobs)
		}
		if got := store.most.Load(); got != 2 {
			t.Errorf("at most %d claims at a time, want 2", got)
		}
		if got := store.mostly.Load(); got > slots {
			t.Errorf("%d jobs were claimed for %d slots", got, slots)
		}
		store.most.Store(0)
		time.Sleep(10 * time.Second)
		if got := store.most.Load(); got != 1 {
			t.Errorf("%d claims at a time with nothing to do", got)
		}
	})
}
