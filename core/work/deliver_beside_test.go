package work

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/core/typecache/typestoretest"
)

// markedTypes know the type "report" by a mark only: some job of it brought a target.
func markedTypes(t *testing.T) *typecache.Cache {
	t.Helper()
	types := typecache.New(typestoretest.NewStore(), typecache.Options{})
	if err := types.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := types.MarkDelivered(t.Context(), []string{"report"}); err != nil {
		t.Fatal(err)
	}
	return types
}

// doneUncharged wants jobs done in one attempt without a snooze, each by the one that does such jobs.
func doneUncharged(t *testing.T, store *memStore, l *ledger, ids []int64, targeted map[int64]bool) {
	t.Helper()
	for _, id := range ids {
		if job := store.get(id); job.Status != core.Done || job.Attempts != 1 || job.Snoozes != 0 {
			t.Errorf("job %d: %s after %d attempts and %d snoozes", id, job.Status, job.Attempts, job.Snoozes)
		}
	}
	done := l.take()
	for _, one := range done {
		if (one.by == "deliverer") != (one.target != "") {
			t.Errorf("%s did a job with the target %q", one.by, one.target)
		}
	}
	if len(done) != len(ids) {
		t.Errorf("%d runs of %d jobs, %d of them with a target", len(done), len(ids), len(targeted))
	}
}

// TestDelivererLeavesHandledJobs: a worker that only delivers claims of a marked type the jobs with a target, and leaves the
// others to the worker with the handler, also those before and between them.
func TestDelivererLeavesHandledJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, l := newMemStore(), &ledger{}
		newRig(t, store, nil, Options{Deliver: l.by("deliverer"), Types: markedTypes(t)})
		var ids []int64
		targeted := map[int64]bool{}
		for i := range 60 {
			if i%3 == 2 {
				ids = append(ids, store.submitTargeted(t, core.NewJob{Type: "report"}, ownTarget))
				targeted[ids[i]] = true
			} else {
				ids = append(ids, store.submit(t, core.NewJob{Type: "report"}))
			}
		}
		time.Sleep(3 * time.Second)
		for _, id := range ids {
			job := store.get(id)
			if want := map[bool]core.Status{true: core.Done, false: core.Scheduled}[targeted[id]]; job.Status != want || job.Snoozes != 0 {
				t.Errorf("before there is a handler, job %d with target %t is %s after %d snoozes, want %s", id, targeted[id], job.Status, job.Snoozes, want)
			}
		}
		newRig(t, store, core.Handlers{"report": l.by("handler")}, Options{ID: "handler"})
		time.Sleep(3 * time.Second)
		doneUncharged(t, store, l, ids, targeted)
	})
}

// TestDelivererPassesOnHandledJobs: the same over a queue that both receive from. The worker that only delivers meets each
// message first.
func TestDelivererPassesOnHandledJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue, l := newMemStore(), newMemQueue(time.Minute), &ledger{}
		// With one slot it receives one message at a time, and leaves the others to the handler.
		deliverer := newQueueRig(t, store, queue, nil, Options{Slots: 1, CriticalSlots: -1, Deliver: l.by("deliverer"), Types: markedTypes(t)})
		if err := store.Announce(t.Context(), core.Presence{ID: "handler", Queues: true, Types: []string{"report"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		var ids []int64
		for range 40 {
			ids = append(ids, store.dispatch(t, queue, core.NewJob{Type: "report"}))
		}
		time.Sleep(100 * time.Millisecond)
		newQueueRig(t, store, queue, core.Handlers{"report": l.by("handler")}, Options{ID: "handler"})
		time.Sleep(20 * time.Second)
		doneUncharged(t, store, l, ids, nil)
		if n := deliverer.worker.Counts().Strayed; n == 0 {
			t.Error("no message came to the worker that only delivers, or none was counted as stray")
		}
		if n := queue.left(); n != 0 || store.called("Unhandled") != 0 {
			t.Errorf("%d messages left, %d times rows were given back as nobody's", n, store.called("Unhandled"))
		}
	})
}

// TestDelivererHandsBackNobodysJobs: over a queue, a job without a target waits uncharged where no live worker has its handler.
func TestDelivererHandsBackNobodysJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue, l := newMemStore(), newMemQueue(time.Minute), &ledger{}
		newQueueRig(t, store, queue, nil, Options{Deliver: l.by("deliverer"), Types: markedTypes(t)})
		time.Sleep(time.Second)
		id := store.dispatch(t, queue, core.NewJob{Type: "report"})
		time.Sleep(5 * time.Second)
		job := store.get(id)
		if wait := time.Until(job.RunAt); job.Status != core.Scheduled || job.Attempts != 0 || job.Snoozes != 0 || wait <= 0 || wait > noHandlerWait {
			t.Errorf("%s for %s after %d attempts and %d snoozes", job.Status, wait, job.Attempts, job.Snoozes)
		}
		if n := queue.left(); n != 0 {
			t.Errorf("%d messages left", n)
		}
	})
}

// TestDelivererOfAGroupHandsBackNobodysJobs: the same where the worker names the types of its groups one by one, so that the type
// seems to have a live worker: the message does not go round for ever.
func TestDelivererOfAGroupHandsBackNobodysJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, l, queues := newMemStore(), &ledger{}, map[string]*memQueue{}
		grouped, err := queuegroup.NewQueue(madeGroups(t, map[string][]string{"media": {"report"}}), func(group string) (core.Queue, error) {
			queues[group] = newMemQueue(time.Minute)
			return queues[group], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		newQueueRig(t, store, grouped, nil, Options{Groups: []string{"media"}, Deliver: l.by("deliverer"), Types: markedTypes(t)})
		time.Sleep(time.Second)
		id := store.dispatch(t, queues["media"], core.NewJob{Type: "report"})
		time.Sleep(20 * time.Second)
		job := store.get(id)
		if job.Status != core.Scheduled || job.Attempts != 0 || job.Snoozes != 0 || queues["media"].left() != 0 {
			t.Errorf("%s after %d attempts and %d snoozes, %d messages left", job.Status, job.Attempts, job.Snoozes, queues["media"].left())
		}
	})
}

// slowTargeted is a memStore whose claims of jobs with targets take long, as beside a great backlog without.
type slowTargeted struct {
	*memStore
	targeted atomic.Int64
}

func (s *slowTargeted) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	if slices.ContainsFunc(req.Quotas, func(q core.Quota) bool { return q.Targeted }) {
		s.targeted.Add(1)
		time.Sleep(500 * time.Millisecond)
	}
	return s.memStore.ClaimDue(ctx, req)
}

// TestTargetedLanesRest: where claims of jobs with targets take long they are sent seldom, and other lanes do not wait.
func TestTargetedLanesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, l := &slowTargeted{memStore: newMemStore()}, &ledger{}
		newRig(t, store, core.Handlers{"work": l.by("handler")}, Options{Deliver: l.by("deliverer"), Types: markedTypes(t)})
		store.submit(t, core.NewJob{Type: "report"})
		var ids []int64
		for range 100 {
			ids = append(ids, store.submit(t, core.NewJob{Type: "work"}))
			time.Sleep(time.Second)
		}
		own := store.submitTargeted(t, core.NewJob{Type: "report"}, ownTarget)
		time.Sleep(12 * time.Second)
		if n := store.targeted.Load(); n < 8 || n > 13 {
			t.Errorf("%d claims of half a second in 112 s, want one in about 10 s", n)
		}
		for _, id := range append(ids, own) {
			if job := store.get(id); job.Status != core.Done {
				t.Errorf("job %d of type %s is %s", id, job.Type, job.Status)
			}
		}
	})
}
