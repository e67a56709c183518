package belfrytest

import (
	"cmp"
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
	"github.com/belfry-dev/belfry/handler"
)

// Options are the settings of an Engine. The zero value is ready for use.
type Options struct {
	Start    time.Time     // what the clock shows at first. Zero means the time of the machine
	Slots    int           // handlers that run at once. Zero means 1: jobs run in a fixed order
	Timeout  time.Duration // of an attempt whose job names none. Zero means 15 min
	Patience time.Duration // real time after which a handler that neither returns nor is to be waited for fails the test. Zero means 30 s
	MaxRuns  int           // attempts within one Drain, Advance or WaitFor, more of which fail the test. Zero means 10,000
}

// Engine is Belfry for one test. Its methods belong to the test's goroutine; handlers may use Submitter, Store and
// Now. A method that cannot do what it says ends the test, with the jobs concerned and their errors.
type Engine struct {
	t         testing.TB
	opts      Options
	start     time.Time
	offset    atomic.Int64 // microseconds the clock was advanced
	store     *sqlite.Store
	claimGate *claimGate
	ticker    *tick.Ticker
	worker    *work.Worker // nil: there are no handlers
	handlers  core.Handlers

	submitter *submit.Submitter
	schedules *schedule.Acts
	running   chan error // the worker's end
	driving   sync.Mutex // held by what makes the engine go
}

// New starts an engine with the handlers of set, which may be nil where the code under test only submits. It is
// closed when the test ends; a handler that then still runs, and goes on after its context has ended, fails the test.
func New(t testing.TB, set *handler.Set) *Engine {
	t.Helper()
	return NewWith(t, set, Options{})
}

// NewWith is New with settings.
func NewWith(t testing.TB, set *handler.Set, opts Options) *Engine {
	t.Helper()
	opts.Slots = cmp.Or(opts.Slots, 1)
	opts.Timeout = cmp.Or(opts.Timeout, 15*time.Minute)
	opts.Patience = cmp.Or(opts.Patience, 30*time.Second)
	opts.MaxRuns = cmp.Or(opts.MaxRuns, 10_000)
	if opts.Start.IsZero() {
		opts.Start = time.Now()
	}
	e := &Engine{t: t, opts: opts, start: opts.Start.UTC().Truncate(core.Precision)}
	if set != nil {
		handlers, err := set.Handlers()
		if err != nil {
			t.Fatalf("belfrytest: %v", err)
		}
		e.handlers = handlers
	}
	if err := e.open(); err != nil {
		t.Fatalf("belfrytest: %v", err)
	}
	return e
}

// exactly makes every back-off its step: chance in the middle of its range.
func exactly() float64 { return 0.5 }

func (e *Engine) open() error {
	store, err := sqlite.Open(context.Background(), filepath.Join(e.t.TempDir(), "belfry.db"), sqlite.Options{
		Clock: func() time.Time { return e.start }, Offset: &e.offset, Readers: 1, NoSync: true,
	})
	if err != nil {
		return err
	}
	e.t.Cleanup(func() {
		if err := store.Close(); err != nil {
			e.t.Errorf("belfrytest: %v", err)
		}
	})
	e.store = store
	e.submitter = submit.New(store, submit.Options{Now: e.Now})
	schedules := schedule.Options{TickPeriod: time.Second, Takeover: 5 * time.Second} // what counts as missed, as in production
	e.schedules = schedule.NewActs(store, schedules, nil)
	e.claimGate = newClaimGate(store, e.Now)
	e.ticker, err = tick.New(store, tick.Options{Holder: "belfrytest", LeaseLength: time.Minute, Chance: exactly, Schedules: schedules})
	if err != nil || len(e.handlers) == 0 {
		return err
	}
	return e.startWorker()
}

func (e *Engine) startWorker() (err error) {
	e.worker, err = work.New(e.claimGate, e.claimGate.watched(e.handlers), work.Options{
		ID: "belfrytest", Slots: e.opts.Slots, CriticalSlots: -1, Timeout: e.opts.Timeout, StopGrace: -1,
		StoreTimeout: time.Minute, Chance: exactly, OnEvent: e.claimGate.event,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	e.running = make(chan error, 1)
	go func() { e.running <- e.worker.Run(ctx) }()
	e.t.Cleanup(func() {
		stop()
		if err := <-e.running; err != nil {
			e.t.Errorf("belfrytest: %v", err)
		}
		if left := e.claimGate.awaitHandlers(e.opts.Patience); left != "" {
			e.t.Errorf("belfrytest: handlers go on after the end of their context:\n%s", left)
		}
	})
	return nil
}

// drive makes sure that one call at a time makes the engine go, and returns its end.
func (e *Engine) drive(act string) (done func()) {
	e.t.Helper()
	if !e.driving.TryLock() {
		e.t.Fatalf("%s: the engine is being driven already: not from a handler, and from one goroutine", act)
	}
	e.claimGate.begin()
	return e.driving.Unlock
}
