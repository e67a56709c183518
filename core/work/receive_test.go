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

// newQueueRig starts a worker that receives from queue.
func newQueueRig(t *testing.T, store core.WorkStore, queue core.Queue, handlers core.Handlers, opts Options) *rig {
	t.Helper()
	return startRig(t, store, handlers, opts, func(ctx context.Context, w *Worker) error { return w.Receive(ctx, queue) })
}

// dispatch writes a queued job and sends its message.
func (m *memStore) dispatch(t *testing.T, q *memQueue, job core.NewJob) int64 {
	t.Helper()
	job.Queued = true
	id := m.submit(t, job)
	q.send(m.get(id).Priority, core.MessageOf(m.get(id)).Encode())
	return id
}

func TestReceiveRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(time.Minute)
		for i := range 300 {
			store.dispatch(t, queue, core.NewJob{Priority: core.Priorities[i%3]})
		}
		newQueueRig(t, store, queue, handle(func(context.Context, *core.Job) error { time.Sleep(time.Second); return nil }), Options{})
		time.Sleep(time.Minute)
		if got := store.tally()[core.Done]; got != 300 || queue.left() != 0 {
			t.Errorf("%d done, %d messages left", got, queue.left())
		}
		if most := queue.counts().most; most > 1000 {
			t.Errorf("asked for %d messages with 1000 slots", most)
		}

		if store.called("Start") > 30 {
			t.Errorf("%d starts for 300 messages", store.called("Start"))
		}
	})
}

// TestAckOnlyAfterRecorded: while the end is not recorded the message is not acknowledged.
func TestAckOnlyAfterRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(time.Minute)
		newQueueRig(t, store, queue, handle(func(context.Context, *core.Job) error { return nil }), Options{})
		store.setFaults(only("Finish", core.ErrUnavailable), nil)
		id := store.dispatch(t, queue, core.NewJob{})
		time.Sleep(10 * time.Second)
		if queue.left() != 1 || store.get(id).Status != core.Running {
			t.Errorf("%d messages left, the job is %s", queue.left(), store.get(id).Status)
		}
		store.setFaults(nil, nil)
		time.Sleep(10 * time.Second)
		if queue.left() != 0 || store.get(id).Status != core.Done {
			t.Errorf("then %d messages left, the job is %s", queue.left(), store.get(id).Status)
		}
	})
}

// TestWorthlessMessages: damaged, forged, stale and doubled messages are acknowledged and run nothing; a job of a
// type that nobody here handles goes back without an attempt.
func TestWorthlessMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(time.Minute)
		var entered atomic.Int64
		r := newQueueRig(t, store, queue, handle(func(context.Context, *core.Job) error { entered.Add(1); return nil }), Options{})
		queue.send(core.Default, []byte("\xff\x00 not ours"))
		queue.send(core.Default, []byte(`{"v":99,"id":"1","token":"0","priority":"default"}`))
		queue.send(core.Default, core.Message{ID: 4711, Priority: core.Default, Type: "work"}.Encode())
		id := store.dispatch(t, queue, core.NewJob{})
		for range 3 {
			queue.send(core.Default, core.MessageOf(store.get(id)).Encode())
		}
		queue.send(core.Bulk, core.MessageOf(store.get(id)).Encode()) // in another priority's queue
		stale := store.dispatch(t, queue, core.NewJob{})
		store.mu.Lock()
		store.jobs[stale].LeaseToken++
		store.mu.Unlock()
		stranger := store.dispatch(t, queue, core.NewJob{Type: "nobody"})
		time.Sleep(10 * time.Second)
		if queue.left() != 0 {
			t.Errorf("%d messages left", queue.left())
		}
		if entered.Load() != 1 || store.get(id).Attempts != 1 {
			t.Errorf("entered %d times, %d attempts", entered.Load(), store.get(id).Attempts)
		}
		if job := store.get(stale); job.Status != core.Queued {
			t.Errorf("the stale message made its job %s", job.Status)
		}
		if job := store.get(stranger); job.Status != core.Scheduled || job.Attempts != 0 || job.LeaseToken != 1 {
			t.Errorf("the unhandled job is %s after %d attempts", job.Status, job.Attempts)
		}
		if r.told(MessageRefused) != 2 || r.worker.Counts().Refused != 2 {
			t.Errorf("%d messages refused", r.told(MessageRefused))
		}
		if n := queue.counts().rejects; n != 2 {
			t.Errorf("%d messages put to the dead letters, want the two that are none of ours", n)
		}
	})
}

// TestBusyStartIsReleased: a message whose row is in a stranger's transaction comes again soon and holds up no other.
func TestBusyStartIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(time.Hour)
		newQueueRig(t, store, queue, handle(func(context.Context, *core.Job) error { return nil }), Options{})
		locked := store.submit(t, core.NewJob{Queued: true})
		store.lock(locked, true)
		queue.send(core.Default, core.MessageOf(store.get(locked)).Encode())
		other := store.dispatch(t, queue, core.NewJob{})
		time.Sleep(3 * time.Second)
		if store.get(other).Status != core.Done || store.get(locked).Status != core.Queued {
			t.Errorf("the other is %s, the locked one %s", store.get(other).Status, store.get(locked).Status)
		}
		store.lock(locked, false)
		time.Sleep(2 * time.Second)
		if got := store.get(locked).Status; got != core.Done {
			t.Errorf("freed, it is %s", got)
		}
	})
}

// TestSubscriptionIsReopened: an error of the subscription costs a pause, not the worker.
func TestSubscriptionIsReopened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(time.Minute)
		r := newQueueRig(t, store, queue, handle(func(context.Context, *core.Job) error { return nil }), Options{})
		for range 5 {
			time.Sleep(10 * time.Second)
			queue.failOnce(errors.New("connection reset"))
			synctest.Wait()
			store.dispatch(t, queue, core.NewJob{Priority: core.Critical})
			store.dispatch(t, queue, core.NewJob{})
			store.dispatch(t, queue, core.NewJob{Priority: core.Bulk})
		}
		time.Sleep(10 * time.Second)
		if got := store.tally()[core.Done]; got != 15 || r.told(QueueLost) != 5 || r.told(QueueBack) != 5 {
			t.Errorf("%d done, lost %d times, back %d times", got, r.told(QueueLost), r.told(QueueBack))
		}
		if n := queue.counts(); n.open != 3 || n.opened != 8 {
			t.Errorf("%d subscriptions open of %d ever", n.open, n.opened)
		}
		if _, err := r.end(); err != nil || queue.counts().open != 0 {
			t.Errorf("%v; %d subscriptions open at the end", err, queue.counts().open)
		}
	})
}

// TestMessagesAreExtendedWithLeases: a job that outlives the visibility timeout is not delivered again; a queue that cannot
// extend delivers it again, and that changes nothing.
func TestMessagesAreExtendedWithLeases(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		t.Run(fmt.Sprint("cannot extend ", fixed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, queue := newMemStore(), newMemQueue(30*time.Second)
				if fixed {
					queue.extend = core.ErrCannotExtend
				}
				var entered atomic.Int64
				newQueueRig(t, store, queue, handle(func(context.Context, *core.Job) error { entered.Add(1); time.Sleep(5 * time.Minute); return nil }), Options{})
				id := store.dispatch(t, queue, core.NewJob{})
				time.Sleep(6 * time.Minute)
				if job := store.get(id); job.Status != core.Done || entered.Load() != 1 || job.Attempts != 1 {
					t.Errorf("%s, entered %d times, %d attempts", job.Status, entered.Load(), job.Attempts)
				}
				if n := queue.counts(); (n.received > 1) != fixed || fixed && n.extends > extenders {
					t.Errorf("delivered %d times, extended %d times", n.received, n.extends)
				}
			})
		})
	}
}

// TestPausedConsumer: a consumer that comes back after ten leases with messages in hand burns no attempt and gets on.
func TestPausedConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(30*time.Second)
		paused := &pausedStore{memStore: store}
		paused.pause.Store(int64(10 * time.Minute))
		var entered sync.Map
		newQueueRig(t, paused, queue, handle(func(_ context.Context, job *core.Job) error {
			if _, twice := entered.LoadOrStore(job.ID, true); twice {
				t.Errorf("job %d entered twice", job.ID)
			}
			return nil
		}), Options{StoreTimeout: time.Hour})
		for range 50 {
			store.dispatch(t, queue, core.NewJob{})
		}
		for range 20 { // the tick publishes again, with the same token, and what was handed back
			time.Sleep(time.Minute)
			for id := int64(1); id <= 50; id++ {
				store.mu.Lock()
				if store.jobs[id].Status == core.Scheduled {
					store.jobs[id].Status = core.Queued
				}
				job := *store.jobs[id]
				store.mu.Unlock()
				if job.Status == core.Queued {
					queue.send(core.Default, core.MessageOf(job).Encode())
				}
			}
		}
		for id := int64(1); id <= 50; id++ {
			if job := store.get(id); job.Status != core.Done || job.Attempts != 1 {
				t.Errorf("job %d: %s after %d attempts", id, job.Status, job.Attempts)
			}
		}
		if queue.left() != 0 {
			t.Errorf("%d messages left", queue.left())
		}
	})
}

// pausedStore holds a consumer up between its messages and their start, once.
type pausedStore struct {
	*memStore
	pause atomic.Int64
}

func (s *pausedStore) Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error) {
	time.Sleep(time.Duration(s.pause.Swap(0)))
	return s.memStore.Start(ctx, refs, req)
}

// TestLostStart: the answer to a start is lost: its jobs run once all the same, and messages that it did not start
// come again.
func TestLostStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(time.Hour)
		var starts, entered atomic.Int64
		newQueueRig(t, store, queue, handle(func(context.Context, *core.Job) error { entered.Add(1); return nil }), Options{})
		lose := func(first, last int64) func(string) error {
			return func(method string) error {
				if n := starts.Load(); method == "Start" && n >= first && n <= last {
					return core.ErrUnavailable
				}
				return nil
			}
		}
		store.setFaults(func(method string) error {
			if method == "Start" {
				starts.Add(1)
			}
			return lose(3, 4)(method) // these are not even carried out
		}, lose(1, 2))
		for range 8 {
			for range 5 {
				store.dispatch(t, queue, core.NewJob{})
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		for id := int64(1); id <= 40; id++ {
			if job := store.get(id); job.Status != core.Done || job.Attempts != 1 {
				t.Errorf("job %d: %s after %d attempts", id, job.Status, job.Attempts)
			}
		}
		if entered.Load() != 40 || queue.left() != 0 || starts.Load() < 5 {
			t.Errorf("entered %d times, %d messages left, %d starts", entered.Load(), queue.left(), starts.Load())
		}
	})
}

// TestStopReleasesWhatIsHeld: messages in hand that are not started are released at once when the worker stops.
func TestStopReleasesWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(time.Hour)
		r := newQueueRig(t, store, queue, handle(func(ctx context.Context, _ *core.Job) error { <-ctx.Done(); return ctx.Err() }), Options{Slots: 1, CriticalSlots: -1, StopGrace: time.Second})
		time.Sleep(time.Second) // each priority waits for a message, with the one slot in view
		var ids []int64
		for range 5 {
			ids = append(ids, store.dispatch(t, queue, core.NewJob{}), store.dispatch(t, queue, core.NewJob{Priority: core.Bulk}))
		}
		time.Sleep(time.Second)
		if took, err := r.end(); err != nil || took > 2*time.Second {
			t.Errorf("%v after %s", err, took)
		}
		handed := 0
		for _, id := range ids {
			job := store.get(id)
			if job.Attempts != 0 || job.Status.Ended() || job.Status == core.Running {
				t.Errorf("job %d: %s after %d attempts", id, job.Status, job.Attempts)
			}
			if job.Status == core.Scheduled {
				handed++
			}
		}
		if queue.counts().releases == 0 {
			t.Error("nothing was held: nothing was shown")
		}
		queue.mu.Lock()
		defer queue.mu.Unlock()
		hidden := 0
		for _, waiting := range queue.waiting {
			for _, m := range waiting {
				if !m.gone && m.visible.After(time.Now().Add(releaseSoon)) {
					hidden++
				}
			}
		}
		if handed != 1 || hidden != 0 {
			t.Errorf("%d jobs handed back, want the one that ran; %d messages still hidden", handed, hidden)
		}
	})
}

// TestReceiveByWeight: with backlog in all queues slots go by weight, however few there are.
func TestReceiveByWeight(t *testing.T) {
	for _, slots := range []int{1, 3, 10} {
		t.Run(fmt.Sprint(slots, " slots"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, queue := newMemStore(), newMemQueue(time.Hour)
				var n [core.Bulk + 1]atomic.Int64
				newQueueRig(t, store, queue, handle(func(_ context.Context, job *core.Job) error {
					n[job.Priority].Add(1)
					time.Sleep(50 * time.Millisecond)
					return nil
				}), Options{Slots: slots, CriticalSlots: -1})
				for range 400 * slots {
					for _, p := range core.Priorities {
						store.dispatch(t, queue, core.NewJob{Priority: p})
					}
				}
				time.Sleep(20 * time.Second)
				critical, def, bulk := n[core.Critical].Load(), n[core.Default].Load(), n[core.Bulk].Load()
				total := float64(critical + def + bulk)
				if total < 300*float64(slots) {
					t.Errorf("%d slots were used for %v jobs of 50ms in 20s", slots, total)
				}
				if part := float64(bulk) / total; part < 0.08 || part > 0.13 {
					t.Errorf("bulk had %.3f of the starts, want 0.1 (critical %d, default %d)", part, critical, def)
				}
			})
		})
	}
}

// TestReceiveUsesAllSlots: one priority alone may have every slot that is not reserved for critical.
func TestReceiveUsesAllSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue := newMemStore(), newMemQueue(time.Hour)
		r := newQueueRig(t, store, queue, handle(func(ctx context.Context, _ *core.Job) error { <-ctx.Done(); return ctx.Err() }), Options{Slots: 100, CriticalSlots: 10})
		for range 200 {
			store.dispatch(t, queue, core.NewJob{Priority: core.Bulk})
		}
		time.Sleep(4 * time.Second)
		if c := r.worker.Counts(); c.Running != 90 {
			t.Errorf("%d bulk jobs on 90 slots", c.Running)
		}
		critical := store.dispatch(t, queue, core.NewJob{Priority: core.Critical})
		time.Sleep(10 * time.Millisecond)
		if got := store.get(critical).Status; got != core.Running {
			t.Errorf("beside them a critical job is %s", got)
		}
	})
}
