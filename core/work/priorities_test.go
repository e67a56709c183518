package work

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// A worker takes jobs of its priorities only, from queues and from the table; the others stay where they are, for others.
func TestWorkerTakesItsPrioritiesOnly(t *testing.T) {
	for _, taken := range [][]core.Priority{nil, {core.Critical}, {core.Default}, {core.Bulk}, {core.Critical, core.Bulk}, {core.Bulk, core.Default}} {
		want := taken
		if taken == nil {
			want = core.Priorities[:]
		}
		check := func(t *testing.T, store *memStore) {
			t.Helper()
			time.Sleep(time.Minute)
			if got := store.tally()[core.Done]; got != 30*len(want) {
				t.Errorf("%d jobs done by a worker that takes %v, want %d", got, want, 30*len(want))
			}
			for id := range store.jobs {
				job := store.get(id)
				if (job.Status == core.Done) != slices.Contains(want, job.Priority) || job.Status != core.Done && job.Attempts > 0 {
					t.Fatalf("a %s job is %s after %d attempts, of a worker that takes %v", job.Priority, job.Status, job.Attempts, want)
				}
			}
		}
		noop := handle(func(context.Context, *core.Job) error { return nil })
		synctest.Test(t, func(t *testing.T) {
			store, queue := newMemStore(), newMemQueue(time.Minute)
			for i := range 90 {
				store.dispatch(t, queue, core.NewJob{Priority: core.Priorities[i%3]})
			}
			newQueueRig(t, store, queue, noop, Options{Priorities: taken})
			check(t, store)
			if left := queue.left(); left != 90-30*len(want) {
				t.Errorf("%d messages left", left)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			store := newMemStore()
			for i := range 90 {
				store.submit(t, core.NewJob{Priority: core.Priorities[i%3]})
			}
			newRig(t, store, noop, Options{Priorities: taken})
			check(t, store)
		})
	}
}
