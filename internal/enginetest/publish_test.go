package enginetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
	"github.com/belfry-dev/belfry/core/tick"
)

func TestAGroupSentInPartIsPublishedAgainAtTheNextTick(t *testing.T) {
	bubble(t, func(w *works) {
		ticker := w.begin("a")
		ids := submitJobs(w.T, w.store, 40, core.NewJob{})
		w.queue.FailSends(core.Default, queuetest.LoseEveryOther)
		tickOnce(w.T, ticker) // finds the lane
		tickOnce(w.T, ticker) // marks and sends
		w.queue.FailSends(core.Default, nil)
		tickOnce(w.T, ticker)
		twice := 0
		for _, id := range ids {
			if w.times(id) == 2 {
				twice++
			}
		}
		if twice != 20 {
			w.Errorf("%d of 40 jobs were published twice, want the 20 whose Send had failed", twice)
		}
		w.hand(core.Default, 40)
	})
}

// The same in a ticker that runs: the next pass, long before the dispatch lease of 10 s has passed.
func TestARunningTickerPublishesAgainWhatFailed(t *testing.T) {
	bubble(t, func(w *works) {
		stop := run(w.T, w.ticker("a", nil))
		time.Sleep(500 * time.Millisecond)
		w.queue.FailSends(core.Default, queuetest.LoseAll)
		ids := submitJobs(w.T, w.store, 40, core.NewJob{})
		time.Sleep(time.Second)
		w.queue.FailSends(core.Default, nil)
		time.Sleep(2 * time.Second)
		stop()
		w.hand(core.Default, len(ids))
	})
}

// The topic took all and its answer got lost. The second messages name the same tokens: each job starts once.
func TestAnUnknownSendIsRepeatedAndStartsOnce(t *testing.T) {
	bubble(t, func(w *works) {
		ids := submitJobs(w.T, w.store, 40, core.NewJob{})
		w.queue.FailSends(core.Default, queuetest.SendAndDeny)
		ticker := w.begin("a")
		tickOnce(w.T, ticker)
		w.queue.FailSends(core.Default, nil)
		tickOnce(w.T, ticker)
		for _, id := range ids {
			if got := w.times(id); got != 2 {
				w.Fatalf("job %d was published %d times, want twice", id, got)
			}
		}
		stopWorker := w.work("worker", 10, time.Millisecond)
		time.Sleep(time.Second)
		stopWorker()
		w.ended(ids)
	})
}

// A topic is down for a minute. Its jobs are neither lost nor written over and over, the other priorities go on, and
// all start within seconds of its return.
func TestATopicThatIsDownForAMinute(t *testing.T) {
	bubble(t, func(w *works) {
		var told events
		stopTicker := run(w.T, w.ticker("a", func(o *tick.Options) { o.OnEvent = told.add }))
		stopWorker := w.work("worker", 100, time.Millisecond)
		w.queue.FailSends(core.Default, queuetest.LoseAll)
		ids := submitJobs(w.T, w.store, 1000, core.NewJob{})
		others := submitJobs(w.T, w.store, 1000, core.NewJob{Priority: core.Bulk})
		time.Sleep(time.Minute)
		w.ended(others)
		w.mu.Lock()
		sent := 0
		for _, times := range w.sent {
			sent += times
		}
		w.mu.Unlock()
		if sent > 1000+2000 {
			w.Errorf("%d messages were sent while a topic was down, want few beyond the 1,000 of the other priority", sent)
		}
		if len(told.of(tick.PublishFailed)) == 0 {
			w.Error("nobody was told")
		}
		w.queue.FailSends(core.Default, nil)
		time.Sleep(20 * time.Second)
		stopWorker()
		stopTicker()
		w.ended(ids)
	})
}

// A Send that hangs holds up neither the leases nor the other priorities.
func TestASendThatHangs(t *testing.T) {
	bubble(t, func(w *works) {
		var held atomic.Int64
		stopTicker := run(w.T, w.ticker("a", func(o *tick.Options) {
			o.OnTick = func(r tick.Report) { held.Store(int64(r.Held)) }
		}))
		stopWorker := w.work("worker", 100, time.Millisecond)
		w.queue.FailSends(core.Default, queuetest.Hang)
		submitJobs(w.T, w.store, 50, core.NewJob{})
		time.Sleep(3 * time.Second)
		others := submitJobs(w.T, w.store, 50, core.NewJob{Priority: core.Critical})
		time.Sleep(5 * time.Second)
		w.ended(others)
		if held.Load() != core.Buckets {
			w.Errorf("beside a hanging Send %d buckets are held", held.Load())
		}
		stopWorker()
		stopTicker()
	})
}

// A ticker that leaves while a Send hangs does not wait for it, and does not say its leases are clean: the next
// holder publishes again at takeover, not when the dispatch lease of 10 s has passed.
func TestLeavingWhileASendHangs(t *testing.T) {
	bubble(t, func(w *works) {
		stopTicker := run(w.T, w.ticker("a", nil))
		time.Sleep(500 * time.Millisecond)
		w.queue.FailSends(core.Default, queuetest.Hang)
		ids := submitJobs(w.T, w.store, 50, core.NewJob{})
		time.Sleep(time.Second)
		began := time.Now()
		stopTicker()
		if took := time.Since(began); took > 2*time.Second {
			w.Errorf("leaving took %s of the bubble's time", took)
		}
		w.queue.FailSends(core.Default, nil)
		stopTicker = run(w.T, w.ticker("b", nil))
		stopWorker := w.work("worker", 100, time.Millisecond)
		time.Sleep(6 * time.Second)
		stopWorker()
		stopTicker()
		w.ended(ids)
	})
}

// The answer of a tick gets lost after its commit: its rows are queued and nobody knows. Their dispatch
// lease passes.
func TestRowsOfATickWhoseAnswerIsLostArePublished(t *testing.T) {
	bubble(t, func(w *works) {
		ticker := w.begin("a")
		ids := submitJobs(w.T, w.store, 40, core.NewJob{})
		tickOnce(w.T, ticker)
		w.store.fail(nil, onMethod("Tick", errors.New("connection reset")))
		if _, err := ticker.Tick(w.Context()); err == nil {
			w.Error("the lost answer gave no error")
		}
		w.store.fail(nil, nil)
		for _, id := range ids {
			if got := get(w.T, w.store, id); got.Status != core.Queued || w.times(id) != 0 {
				w.Fatalf("job %d is %s and was published %d times; want queued and never", id, got.Status, w.times(id))
			}
		}
		stopTicker := run(w.T, ticker)
		stopWorker := w.work("worker", 10, time.Millisecond)
		time.Sleep(12 * time.Second)
		stopWorker()
		stopTicker()
		w.ended(ids)
	})
}

// A holder dies between commit and publish. The next one publishes what it had queued, under the same tokens and
// without waiting for dispatch leases: takeover and one tick, however many rows there are and however often ticks die so.
func TestAnUncleanHoldersRowsArePublishedAtTakeover(t *testing.T) {
	t.Run("one", func(t *testing.T) { unpublishedTakeover(t, 0, 0) })
	t.Run("more rows than one pass publishes", func(t *testing.T) { unpublishedTakeover(t, 0, 10) })
	t.Run("the next ones die, too", func(t *testing.T) { unpublishedTakeover(t, 5, 0) })
}

func unpublishedTakeover(t *testing.T, others, limit int) {
	bubble(t, func(w *works) {
		dying := w.begin("dying")
		ids := submitJobs(w.T, w.store, 40, core.NewJob{})
		tickOnce(w.T, dying)
		w.queue.FailSends(core.Default, queuetest.LoseAll)
		w.store.fail(onMethod("Undispatch", errors.New("dead")), nil)
		if _, err := dying.Tick(w.Context()); err == nil {
			w.Error("nothing failed")
		}
		for n := range others {
			time.Sleep(4*time.Second + time.Millisecond)
			if _, err := w.ticker(fmt.Sprint("dying ", n), nil).Tick(w.Context()); err == nil {
				w.Errorf("number %d published everything", n)
			}
		}
		w.queue.FailSends(core.Default, nil)
		w.store.fail(nil, nil)
		stopWorker := w.work("worker", 10, time.Millisecond)
		stopNext := run(w.T, w.ticker("next", func(o *tick.Options) { o.Dispatch.RepublishLimit = limit }))
		time.Sleep(6 * time.Second)
		stopNext()
		stopWorker()
		w.ended(ids)
	})
}

// A holder that leaves on purpose has published what it queued: the next one repeats nothing.
func TestACleanHoldersRowsAreNotPublishedAgain(t *testing.T) {
	bubble(t, func(w *works) {
		ids := submitJobs(w.T, w.store, 40, core.NewJob{})
		stop := run(w.T, w.ticker("leaving", nil))
		time.Sleep(time.Second)
		stop()
		stop = run(w.T, w.ticker("next", nil))
		time.Sleep(5 * time.Second)
		stop()
		for _, id := range ids {
			if got := w.times(id); got != 1 {
				w.Fatalf("job %d was published %d times, want once", id, got)
			}
		}
	})
}

// A holder that was paused and lost its leases dispatches nothing when it wakes up.
func TestADeposedHolderDispatchesNothing(t *testing.T) {
	bubble(t, func(w *works) {
		var told events
		paused := w.ticker("paused", func(o *tick.Options) { o.OnEvent = told.add })
		tickOnce(w.T, paused)
		submitJobs(w.T, w.store, 10, core.NewJob{})
		tickOnce(w.T, paused) // has seen the lane and the queue: its next pass would mark rows
		time.Sleep(5 * time.Second)
		next := w.begin("next")
		ids := submitJobs(w.T, w.store, 30, core.NewJob{})
		report := tickOnce(w.T, paused)
		if report.Held != 0 || report.Dispatched != 0 {
			w.Errorf("the deposed holder holds %d buckets and dispatched %d jobs", report.Held, report.Dispatched)
		}
		if len(told.of(tick.LeasesLost)) != 1 {
			w.Errorf("told of lost leases %d times, want once", len(told.of(tick.LeasesLost)))
		}
		tickOnce(w.T, next)
		tickOnce(w.T, next)
		for _, id := range ids {
			if got := w.times(id); got != 1 {
				w.Fatalf("job %d was published %d times, want once, by the holder", id, got)
			}
		}
	})
}
