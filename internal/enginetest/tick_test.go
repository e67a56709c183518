package enginetest

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
	"github.com/belfry-dev/belfry/core/decide"
	"github.com/belfry-dev/belfry/core/tick"
)

// The first rows the reaper finds cannot be ended; those behind them are all the same.
func TestReaperGoesPastRowsItCannotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := watch(openStore(t, nil))
		ids := submitJobs(t, store, 12, core.NewJob{})
		claim(t, store, "echo", 12, time.Minute)
		held := map[int64]bool{}
		for _, id := range ids[:5] {
			held[id] = true
		}
		store.finish = func(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
			answers := make([]core.EndAnswer, len(ends))
			for i, end := range ends {
				if answers[i] = (core.EndAnswer{Busy: true}); !held[end.ID] {
					one, err := store.Store.Finish(ctx, ends[i:i+1])
					if err != nil {
						return nil, err
					}
					answers[i] = one[0]
				}
			}
			return answers, nil
		}
		time.Sleep(time.Minute + time.Second)
		ticker := newTicker(t, store, tick.Options{ReapLimit: 5})
		passes := 0
		for report := tickOnce(t, ticker); report.More; report = tickOnce(t, ticker) {
			if passes++; passes > 10 {
				t.Fatal("the passes never end")
			}
		}
		for i, id := range ids {
			want := core.Scheduled
			if held[id] {
				want = core.Running
			}
			if got := get(t, store, id).Status; got != want {
				t.Errorf("job %d of 12 is %s, want %s", i+1, got, want)
			}
		}
		// The round begins anew: rows that can be ended by now are.
		store.finish = nil
		tickOnce(t, ticker)
		for _, id := range ids[:5] {
			if got := get(t, store, id).Status; got != core.Scheduled {
				t.Errorf("job %d is %s after its row was free, want scheduled", id, got)
			}
		}
	})
}

// A page whose ends the store refuses altogether keeps nobody behind it waiting.
func TestReaperGoesPastAPageThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := watch(openStore(t, nil))
		ids := submitJobs(t, store, 10, core.NewJob{})
		claim(t, store, "echo", 10, time.Minute)
		store.finish = func(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
			if ends[0].ID == ids[0] {
				return nil, errors.New("damaged")
			}
			return store.Store.Finish(ctx, ends)
		}
		time.Sleep(time.Minute + time.Second)
		ticker := newTicker(t, store, tick.Options{ReapLimit: 4})
		if _, err := ticker.Tick(t.Context()); err == nil {
			t.Error("a page that cannot be written gave no error")
		}
		tickOnce(t, ticker)
		tickOnce(t, ticker)
		for _, id := range ids[4:] {
			if got := get(t, store, id).Status; got != core.Scheduled {
				t.Errorf("job %d, behind the damaged page, is %s, want scheduled", id, got)
			}
		}
	})
}

// The ticker has never heard of the type. The first lease that passes costs an attempt, the others
// none, until too many in a row have.
func TestLossesCountUntilTheyAreUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, nil)
		id := submitJobs(t, store, 1, core.NewJob{Type: "known.elsewhere", MaxAttempts: 3})[0]
		ticker := newTicker(t, store, tick.Options{Chance: func() float64 { return 0.5 }})
		for loss := 1; loss <= core.MaxLosses; loss++ {
			claim(t, store, "known.elsewhere", 1, time.Minute)
			time.Sleep(59 * time.Second)
			if got := tickOnce(t, ticker).Lost; got != 0 {
				t.Fatalf("%d attempts were lost while the lease lasted", got)
			}
			time.Sleep(2 * time.Second)
			report := tickOnce(t, ticker)
			if report.Lost != 1 {
				t.Fatalf("loss %d: %d lost, want 1", loss, report.Lost)
			}
			job := get(t, store, id)
			if last := job.Errors[len(job.Errors)-1]; len(job.Errors) != loss || last.Kind != core.KindLost || last.Losses != loss || last.Attempt != min(loss, 2) {
				t.Fatalf("loss %d left the errors %+v", loss, job.Errors)
			}
			if loss == core.MaxLosses {
				break
			}
			wait := decide.Backoff(nil, loss, 0.5) / 2
			if job.Status != core.Scheduled || job.Attempts != 1 || !job.RunAt.Equal(report.Now.Add(wait)) {
				t.Errorf("after loss %d it is %s after %d attempts, at %s, want scheduled %s after %s", loss, job.Status, job.Attempts, job.RunAt, wait, report.Now)
			}
			time.Sleep(wait)
		}
		if got := get(t, store, id).Status; got != core.Failed {
			t.Errorf("after its last loss the job is %s, want failed", got)
		}
	})
}

// One time per pass, the store's. This process's clock is 45 s ahead of it.
func TestAPassGoesByTheStoresTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var offset atomic.Int64
		offset.Store((-45 * time.Second).Microseconds())
		store := openStore(t, &offset)
		ids := submitJobs(t, store, 3, core.NewJob{})
		claim(t, store, "echo", 3, time.Minute)
		time.Sleep(time.Minute + time.Second)
		report := tickOnce(t, newTicker(t, store, tick.Options{}))
		if want := time.Now().Add(-45 * time.Second); !report.Now.Equal(want) {
			t.Errorf("the pass was at %s, by the store's clock it is %s", report.Now, want)
		}
		for _, id := range ids {
			if got := get(t, store, id).Errors[0].At; !got.Equal(report.Now) {
				t.Errorf("job %d was found lost at %s, the pass was at %s", id, got, report.Now)
			}
		}
	})
}

// The answer to the end of a lost attempt gets lost. It is neither charged twice nor forgotten.
func TestALostAnswerToALostAttemptChargesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := watch(openStore(t, nil))
		id := submitJobs(t, store, 1, core.NewJob{})[0]
		claim(t, store, "echo", 1, time.Minute)
		time.Sleep(time.Minute + time.Second)
		ticker := newTicker(t, store, tick.Options{})
		store.fail(nil, onMethod("Finish", errors.New("connection reset")))
		if _, err := ticker.Tick(t.Context()); err == nil {
			t.Error("the lost answer gave no error")
		}
		store.fail(nil, nil)
		tickOnce(t, ticker)
		if job := get(t, store, id); job.Status != core.Scheduled || job.Attempts != 1 || len(job.Errors) != 1 {
			t.Errorf("the job is %s with %d attempts and %d errors, want scheduled with one of each", job.Status, job.Attempts, len(job.Errors))
		}
	})
}

// The store is a read-only standby for 20 s.
func TestTickerWaitsAReadOnlyStoreOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := watch(openStore(t, nil))
		id := submitJobs(t, store, 1, core.NewJob{})[0]
		claim(t, store, "echo", 1, 10*time.Second)
		var told events
		ticker := newTicker(t, store, tick.Options{OnEvent: told.add})
		stop := run(t, ticker)
		time.Sleep(5 * time.Second)
		store.fail(onMethod("Tick", fmt.Errorf("tick: %w", core.ErrReadOnly)), nil)
		before := store.count("Tick")
		time.Sleep(20 * time.Second)
		tries := store.count("Tick") - before
		store.fail(nil, nil)
		time.Sleep(5 * time.Second)
		stop()
		if tries < 5 || tries > 30 {
			t.Errorf("%d tries in 20 s of a read-only store, want a few: it is to be left alone, and its return to be noticed", tries)
		}
		failed := told.of(tick.TickFailed)
		if len(failed) != 1 || !errors.Is(failed[0].Err, core.ErrReadOnly) {
			t.Errorf("told of failures %d times (%v), want once in 20 s, as read-only", len(failed), failed)
		}
		if n := len(told.of(tick.TickRecovered)); n != 1 {
			t.Errorf("told of the recovery %d times, want once", n)
		}
		if got := get(t, store, id).Status; got != core.Scheduled {
			t.Errorf("the job lost meanwhile is %s 5 s after the store's return, want scheduled", got)
		}
	})
}

func TestAnIdlePassIsOneCallOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := watch(openStore(t, nil))
		stop := run(t, newTicker(t, store, tick.Options{}))
		time.Sleep(time.Minute)
		stop()
		passes := store.count("Tick")
		if passes < 59 || passes > 62 {
			t.Errorf("%d passes in a minute, want one a second", passes)
		}
		if others := store.total() - passes - store.count("Maintain") - store.count("ReleaseLeases"); others != 0 {
			t.Errorf("%d other calls: %v", others, store.calls)
		}
	})
}

func TestUpkeepOnceAMinuteByOneTicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, nil)
		first, second := watch(store), watch(store)
		stopFirst := run(t, newTicker(t, first, tick.Options{Holder: "first", Period: 5 * time.Second, LeaseLength: 20 * time.Second}))
		synctest.Wait()
		stopSecond := run(t, newTicker(t, second, tick.Options{Holder: "second", Period: 5 * time.Second, LeaseLength: 20 * time.Second}))
		time.Sleep(10 * time.Minute)
		stopSecond()
		stopFirst()
		if n := first.count("Maintain"); n < 8 || n > 14 {
			t.Errorf("upkeep %d times in ten minutes, want about ten", n)
		}
		if n := second.count("Maintain"); n != 0 {
			t.Errorf("the standby did upkeep %d times", n)
		}
	})
}

func TestRunStopsAMarginBeforeItsDeadlineAndReleasesItsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 110*time.Second)
		defer cancel()
		if err := newTicker(t, store, tick.Options{Holder: "first", Margin: 5 * time.Second}).Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		deadline, _ := ctx.Deadline()
		if left := time.Until(deadline); left < 5*time.Second || left > 6*time.Second {
			t.Errorf("Run left %s before its deadline, want the margin of 5 s", left)
		}
		if got := tickOnce(t, newTicker(t, store, tick.Options{Holder: "second"})).Held; got != core.Buckets {
			t.Errorf("the next ticker's first pass holds %d buckets, want all: the leases were released", got)
		}
	})
}

func TestAStandbyTakesOverWithinFiveSeconds(t *testing.T) {
	for _, died := range []time.Duration{10 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, 999 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			store := openStore(t, nil)
			holder := watch(store)
			stopHolder := run(t, newTicker(t, holder, tick.Options{Holder: "holder"}))
			synctest.Wait()
			var held atomic.Int64
			stopStandby := run(t, newTicker(t, store, tick.Options{Holder: "standby", OnTick: func(r tick.Report) { held.Store(int64(r.Held)) }}))
			time.Sleep(7*time.Second + died)
			if held.Load() != 0 {
				t.Fatalf("the standby holds %d buckets beside a live holder", held.Load())
			}
			holder.fail(func(string) error { return errors.New("dead") }, nil)
			time.Sleep(5 * time.Second)
			if held.Load() != core.Buckets {
				t.Errorf("5 s after the holder died the standby holds %d buckets, want all", held.Load())
			}
			stopStandby()
			stopHolder()
		})
	}
}

func TestTickerWakesSleepersForLanesDueSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, nil)
		submitJobs(t, store, 1, core.NewJob{Type: "now"})
		submitJobs(t, store, 1, core.NewJob{Type: "soon", Delay: 700 * time.Millisecond})
		submitJobs(t, store, 1, core.NewJob{Type: "later", Delay: time.Hour})
		got := map[string]bool{}
		tickOnce(t, newTicker(t, store, tick.Options{Wake: func(due []core.Lane) {
			for _, lane := range due {
				got[lane.Type] = true
			}
		}}))
		if len(got) != 2 || !got["now"] || !got["soon"] {
			t.Errorf("woken for %v, want now and soon", got)
		}
	})
}

func TestNewTickerRefusesWhatCannotWork(t *testing.T) {
	for name, opts := range map[string]tick.Options{
		"no holder":       {},
		"lease too short": {Holder: "a", Period: time.Second, LeaseLength: 2 * time.Second},
		"negative period": {Holder: "a", Period: -time.Second},
		"a missing topic": {Holder: "a", Topics: map[core.Priority]core.Topic{}},
	} {
		if _, err := tick.New(nil, opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// run runs a ticker in the background; the answer stops it and waits.
func run(t *testing.T, ticker *tick.Ticker) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var err error
	running.Go(func() { err = ticker.Run(ctx) })
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			running.Wait()
			if err != nil {
				t.Logf("Run: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// onMethod is a fault of one method.
func onMethod(method string, err error) func(string) error {
	return func(called string) error {
		if called == method {
			return err
		}
		return nil
	}
}

// events collects what a ticker tells.
type events struct {
	mu  sync.Mutex
	all []tick.Event
}

func (e *events) add(event tick.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

func (e *events) of(kind tick.EventKind) (some []tick.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.all {
		if event.Kind == kind {
			some = append(some, event)
		}
	}
	return some
}
