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

// Options are the settings of an Engine. The zero value is ready to use.
type Options struct {
	Start    time.Time     // initial time of the clock. Zero means the machine's time
	Slots    int           // maximum handlers that run at once. Zero means 1: jobs run in a fixed order
	Timeout  time.Duration // timeout of jobs that set none. Zero means 15 min
	Patience time.Duration // real time after which a handler that does not return fails the test. Zero means 30 s
	MaxRuns  int           // maximum attempts in one Drain, Advance or WaitFor; more fail the test. Zero means 10,000
}

// Engine is Belfry for one test. Only the test's goroutine may call its methods; handlers may use Submitter, Store and Now.
// A method that cannot do its work fails the test, and describes the jobs concerned and their errors.
type Engine struct {
	t         testing.TB
	opts      Options
	start     time.Time
	offset    atomic.Int64 // microseconds by which the clock was advanced
	store     *sqlite.Store
	claimGate *claimGate
	ticker    *tick.Ticker
	worker    *work.Worker // nil: there are no handlers
	handlers  core.Handlers

	submitter *submit.Submitter
	schedules *schedule.Acts
	running   chan error // result of the worker
	driving   sync.Mutex // held while a call drives the engine
}

// New starts an engine with the handlers of set, which may be nil if the code under test only submits. The engine closes
// when the test ends. A handler that then ignores the end of its context fails the test.
func New(t testing.TB, set *handler.Set) *Engine {
	t.Helper()
	return NewWith(t, set, Options{})
}

// NewWith is New with options.
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

// noJitter returns the middle of the range of chance, so that every back-off is exactly its step.
func noJitter() float64 { return 0.5 }

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
	schedules := schedule.Options{TickPeriod: time.Second, Takeover: 5 * time.Second} // the grace for missed runs, as in production
	e.schedules = schedule.NewActs(store, schedules, nil)
	e.claimGate = newClaimGate(store, e.Now)
	e.ticker, err = tick.New(store, tick.Options{Holder: "belfrytest", LeaseLength: time.Minute, Chance: noJitter, Schedules: schedules})
	if err != nil || len(e.handlers) == 0 {
		return err
	}
	return e.startWorker()
}

func (e *Engine) startWorker() (err error) {
	e.worker, err = work.New(e.claimGate, e.claimGate.watchHandlers(e.handlers), work.Options{
		ID: "belfrytest", Slots: e.opts.Slots, CriticalSlots: -1, Timeout: e.opts.Timeout, StopGrace: -1,
		StoreTimeout: time.Minute, Chance: noJitter, OnEvent: e.claimGate.event,
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

// drive ensures that only one call at a time drives the engine. The caller must call done.
func (e *Engine) drive(act string) (done func()) {
	e.t.Helper()
	if !e.driving.TryLock() {
		e.t.Fatalf("%s: the engine is being driven already: not from a handler, and from one goroutine", act)
	}
	e.claimGate.resetCounts()
	return e.driving.Unlock
}
