package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/fleet"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/rollup"
	"github.com/belfry-dev/belfry/core/share"
	"github.com/belfry-dev/belfry/core/typecache"
)

// Options configure a Worker.
type Options struct {
	ID            string          // names the worker in rows and logs; required
	Slots         int             // handlers that run at once. Zero means 1,000
	CriticalSlots int             // of them for critical jobs only. Zero means one in twenty; below zero means none
	Weights       share.Weights   // how priorities share slots. Zero means 6, 3 and 1
	Priorities    []core.Priority // whose jobs it takes. Nil means all
	// Groups are the groups of types from whose queues it receives, "" standing for the types of none. Nil means those of
	// its handlers' types, and all where it delivers.
	Groups       []string
	Lease        time.Duration // a worker's right to a job. Zero means 60 s
	Heartbeat    time.Duration // between extensions of leases. Zero means a third of Lease
	Timeout      time.Duration // of an attempt whose job names none. Zero means 15 min
	MaxTime      time.Duration // maximum of an attempt, even if its job allows more; then it ends as timed out. Zero means no bound
	TimeoutGrace time.Duration // a handler that has not returned so long after its context ended is leaked. Zero means 5 s
	Poll         time.Duration // the longest sleep between claims. Zero means 1 s
	StopGrace    time.Duration // running handlers have so long to end by themselves at stop. Zero means 10 s; below zero means none
	StoreTimeout time.Duration // of one call to the store, and how late a lost call may still commit. Zero means 10 s

	// Deliver does the work of jobs that have a target, or whose type has one: it finds the target in its job. Nil means
	// that handlers do all work, targets or not.
	Deliver core.Handler
	// Types name the types that are delivered, which change while the worker runs: their jobs are run here beside those
	// of the handlers' types. Whoever made them keeps them fresh. Nil means the handlers' types only.
	Types *typecache.Cache

	// Announcer says in the store that this worker is there. Nil means one of its own, under ID.
	Announcer *Announcer
	// Pass is where messages are sent again whose jobs other workers run, where it is not the queue that they come from: a
	// function's messages come with its call. Nil means that queue; without one such a job's row goes back to the scheduler.
	Pass core.Queue

	Chance  func() float64 // in [0, 1), for jitter. Nil means math/rand
	OnEvent func(Event)    // told what an operator should know, one event at a time; must not block. Nil means nobody
}

func (o *Options) setDefaults() {
	set := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	if o.Slots == 0 {
		o.Slots = 1_000
	}
	if o.Priorities == nil {
		o.Priorities = core.Priorities[:]
	}
	if o.CriticalSlots == 0 && slices.Contains(o.Priorities, core.Critical) {
		o.CriticalSlots = o.Slots / 20
	}
	o.CriticalSlots = max(o.CriticalSlots, 0)
	set(&o.Lease, time.Minute)
	set(&o.Heartbeat, o.Lease/3)
	set(&o.Timeout, 15*time.Minute)
	set(&o.TimeoutGrace, 5*time.Second)
	set(&o.Poll, time.Second)
	set(&o.StopGrace, 10*time.Second)
	o.StopGrace = max(o.StopGrace, 0)
	set(&o.StoreTimeout, 10*time.Second)
	if o.Chance == nil {
		o.Chance = rand.Float64
	}
}

func (o *Options) check() error {
	var errs core.FieldErrors
	if o.ID == "" {
		errs.Add("id", "is required")
	}
	if o.Slots < 1 {
		errs.Add("slots", "must be at least 1")
	}
	if o.CriticalSlots >= o.Slots && o.CriticalSlots > 0 {
		errs.Add("critical_slots", "must be fewer than slots (%d): other jobs would never run", o.Slots)
	}
	if o.CriticalSlots > 0 && !slices.Contains(o.Priorities, core.Critical) {
		errs.Add("critical_slots", "must be none where no critical jobs are taken")
	}
	if len(o.Priorities) == 0 || slices.ContainsFunc(o.Priorities, func(p core.Priority) bool { return !p.Valid() }) {
		errs.Add("priorities", "must name some of critical, default and bulk")
	}
	if o.Weights.Critical < 0 || o.Weights.Default < 0 || o.Weights.Bulk < 0 {
		errs.Add("weights", "must be positive")
	}
	if o.Heartbeat < 0 || o.Lease <= 2*o.Heartbeat {
		errs.Add("lease", "must be longer than two heartbeats (%s)", o.Heartbeat)
	}
	for name, d := range map[string]time.Duration{"timeout": o.Timeout, "max_time": o.MaxTime, "timeout_grace": o.TimeoutGrace, "poll": o.Poll, "store_timeout": o.StoreTimeout} {
		if d < 0 {
			errs.Add(name, "must be positive")
		}
	}
	return errs.Err()
}

// Worker claims jobs that are due, or receives them from a queue, runs their handlers and records how they ended.
// It runs no more handlers than it has slots, and no handler beyond its job's lease.
type Worker struct {
	store    core.WorkStore
	handlers core.Handlers
	types    []string // sorted
	opts     Options

	announcer *Announcer
	fleet     *fleet.View
	passing   passing
	pushes    pushes
	queues    bool // it receives from queues, or is pushed what they bring

	name    atomic.Pointer[string] // in rows; changes when the worker registers anew
	used    atomic.Bool
	base    context.Context // of handlers: the values of Run's ctx
	calls   context.Context // of calls to the store: outlives Run's ctx until its work is recorded
	claims  context.Context // of claims: ends before calls
	active  context.Context // Run's ctx
	tasks   sync.WaitGroup  // everything Run waits for
	rollups *rollup.Counts
	events  sync.Mutex
	beats   beats
	loops   sync.WaitGroup // what records and watches; ends after tasks

	groups queuegroup.Groups // of types that have queues of their own
	apart  []string          // those from whose queues it receives; nil where there is no group

	extending atomic.Bool // messages are being extended
	fixed     atomic.Bool // the queue cannot extend messages
	acks      ackContext

	surveyed atomic.Pointer[surveyed] // shared by the claim loops

	wakeC     chan struct{} // claim now
	helpC     chan struct{} // a second claim loop is wanted
	slotC     chan struct{} // the slots waited for are free
	endedC    chan struct{} // ended attempts wait for a finisher
	fullC     chan struct{} // nothing is gained by gathering more
	againC    chan struct{} // an end must be sent again
	announceC chan struct{} // the worker is to be announced now
	idleC     chan struct{} // told while stopping: an attempt ended or was recorded

	mu        sync.Mutex
	held      []*attempt // running or ended, until their end is recorded
	running   [core.Bulk + 1]int
	promised  [core.Bulk + 1]int // slots of claims whose answer is not known
	ended     []*attempt         // wait for a finisher
	again     []*attempt         // wait to be sent again
	ending    int                // ended, again, or with a finisher
	slotWant  int                // told on slotC when so many are free; 0: nobody waits
	rate      endRate
	freedAt   time.Time // when a handler last gave its slot back (queue mode)
	stopping  bool
	helping   bool // the second claim loop is at work
	suspects  suspects
	counts    Counts
	gate      slotGate
	receivers []*receiver // that have ended; their subscriptions are still open
}

// Counts is what a worker did and holds, for metrics.
type Counts struct {
	Slots, Running, Finishing int
	Leaked                    int   // handlers that ignore their context's end, still running
	LeaksEver                 int64 // such handlers since the start
	LateResults               int64 // results that came after their attempt had been ended
	LostLeases                int64 // attempts whose lease could not be kept
	Panics                    int64
	Refused                   int64 // messages that are none of ours
	Strayed                   int64 // messages of jobs that others run, given away
}

// New returns a Worker for the types of handlers, and for those that are delivered where opts.Deliver and
// opts.Types are given. Faulty options are FieldErrors.
func New(store core.WorkStore, handlers core.Handlers, opts Options) (*Worker, error) {
	opts.setDefaults()
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if len(handlers) == 0 && (opts.Deliver == nil || opts.Types == nil) {
		return nil, errors.New("worker: no handlers, and nothing to deliver")
	}
	for t, h := range handlers {
		if t == "" || h == nil {
			return nil, fmt.Errorf("worker: handler of type %q: want a name and a handler", t)
		}
	}
	signal := func() chan struct{} { return make(chan struct{}, 1) }
	w := &Worker{
		store: store, handlers: maps.Clone(handlers), types: slices.Sorted(maps.Keys(handlers)), opts: opts,
		wakeC: signal(), helpC: signal(), slotC: signal(), endedC: signal(), fullC: signal(), againC: signal(), announceC: signal(), idleC: signal(),
	}
	if w.announcer = opts.Announcer; w.announcer == nil {
		w.announcer = NewAnnouncer(store, core.Presence{ID: opts.ID})
	}
	w.fleet = fleet.NewView(store)
	w.name.Store(&opts.ID)
	w.rollups = rollup.New(opts.ID)
	w.beats.pokeC = signal()
	w.pushes.calls = map[*pushCall]bool{}
	for _, p := range core.Priorities {
		w.pushes.arrived[p] = signal()
	}
	return w, nil
}

// Wake makes the worker claim at once: something may be due. It never blocks.
func (w *Worker) Wake() { signal(w.wakeC) }

// Poke makes the worker ask at once whether cancel is wanted for job id, if it runs here. It never blocks.
func (w *Worker) Poke(id int64) { w.beats.poke(id) }

// Counts returns what the worker did and holds.
func (w *Worker) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.counts
	c.Slots, c.Finishing = w.opts.Slots, w.ending
	for _, n := range w.running {
		c.Running += n
	}
	return c
}

// signal puts a token into c unless one is there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// call is the context of one call to the store.
func (w *Worker) call() (context.Context, context.CancelFunc) {
	return context.WithTimeout(w.calls, w.opts.StoreTimeout)
}
