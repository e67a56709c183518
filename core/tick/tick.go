package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
	"github.com/belfry-dev/belfry/core/rollup"
	"github.com/belfry-dev/belfry/core/schedule"
)

// Store is what a Ticker asks of a store: the tick itself, what workers handle, the end of attempts that were lost, and
// their count.
type Store interface {
	core.TickStore
	core.FleetStore
	core.ScheduleStore
	Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error)
	AddRollups(ctx context.Context, shard int, rows []core.Rollup) error
	Cancel(ctx context.Context, id int64) (core.Job, error)
}

// Ticker is the scheduler. Each pass renews the bucket leases, ends attempts whose worker is gone, expires
// what nobody may start any more and, in queue mode, hands due jobs to their priority's queue. Everything it
// decides is in the store: a Ticker that dies anywhere loses nothing, and any number may run at once.
// It knows no handlers, so it serves types that only other processes can run.
type Ticker struct {
	store Store
	opts  Options

	reapAfter    int64                // id of the last lost job listed, 0 at the start of a round
	next         map[string]time.Time // no duty of that name before this
	dispatcher   *dispatcher
	background   sync.WaitGroup // upkeep
	maintaining  atomic.Bool    // upkeep runs once at a time
	rollups      *rollup.Counts // counts of lost attempts, which no worker can give any more
	waitingAfter int64          // id of the last schedule with a run that waits which was looked at, 0 at the start of a round
	zonesChecked bool           // no schedule of the buckets held was computed with another time zone database
	zonesHeld    int            // how many these were
	dueIn        time.Duration  // when Run left idle: until the next job or schedule is due
	alerting     atomic.Bool    // alerts are published once at a time
	events       sync.Mutex     // OnEvent is called by one goroutine at a time
}

// Options are the settings of a Ticker.
type Options struct {
	Holder      string        // names this scheduler instance among all; required
	Period      time.Duration // from one pass to the next. Zero means 1 s
	LeaseLength time.Duration // of bucket leases; at least three periods. Zero means 4 s
	Margin      time.Duration // kept free before ctx's deadline, and allowed for leaving. Zero means 1 s

	ReapLimit      int                  // lost jobs decided in one pass. Zero means 1,000
	ExpireLimit    int                  // jobs expired in one pass. Zero means 1,000
	Maintain       core.MaintainRequest // what upkeep keeps. Zero means for ever
	MaintainPeriod time.Duration        // between upkeeps, jittered. Zero means 1 min
	MaintainNext   time.Time            // no upkeep before this. Zero means at once

	ScheduleLimit int              // schedules advanced in one pass. Zero means 1,000
	Schedules     schedule.Options // how their plans are made; the period is the Ticker's
	Counts        *schedule.Counts // counts what becomes of due instants. Nil means that nobody counts

	TypesPeriod time.Duration // between looks for types without a success. Zero means 10 s

	// LeaveIdle ends Run once a pass has found nothing to do and nothing is due within this time: for hosts that begin
	// another Run by then, and when something becomes due earlier. Zero means that Run goes on.
	LeaveIdle time.Duration
	// LeaveAfter is how long Run goes on before it may leave idle. Zero means that it may at once.
	LeaveAfter time.Duration

	// Topics are where due jobs are published. Nil means direct mode: workers claim from the store themselves.
	Topics   map[core.Priority]core.Topic
	Dispatch DispatchOptions // queue mode's settings. Zero means the defaults
	// Unannounced publishes jobs of types that nobody announces, too: for consumers that live only while there is work, as
	// functions do, and that nothing but a message wakes. Zero means that only what a live worker handles is published.
	Unannounced bool

	Wake       func(due []core.Lane)       // told lanes due before the next pass. Nil means nobody sleeps here
	OnDispatch func(dispatched []core.Job) // sees jobs between the commit that queued them and their publishing. Nil means nobody looks
	OnTick     func(Report)                // sees every pass that succeeded. Nil means nobody looks
	OnEvent    func(Event)                 // told what an operator should know; called by one goroutine at a time. Nil means nobody listens
	// OnAlerts publishes alerts as they now stand; those it returns nil for are not given again. Nil means that nobody is told.
	OnAlerts func(ctx context.Context, alerts []core.Alert) error
	Chance   func() float64 // in [0, 1), for jitter. Nil means math/rand
}

// Report says what one pass did.
type Report struct {
	Now        time.Time // the one time this pass went by: the store's
	Held       int       // buckets held
	Lost       int       // attempts ended as lost
	Expired    int
	Schedules  int // schedules advanced
	Runs       int // jobs made by them
	Dispatched int // rows handed to the queue, repeated ones included
	Waiting    []core.Lane
	Queued     int           // queue mode: rows that were queued before this pass
	DueIn      time.Duration // until the next job or schedule is due, as far as this pass knows; at most an hour. ≤ 0 means due
	More       bool          // a limit was reached: another pass at once would find more
	NextIn     time.Duration // queue mode: when the next pass is useful, at most a period
}

// New checks the options and makes a Ticker. It touches nothing until the first pass.
func New(store Store, opts Options) (*Ticker, error) {
	opts = opts.withDefaults()
	if opts.Holder == "" {
		return nil, errors.New("ticker: a holder's name is required")
	}
	if opts.Period < 0 || opts.LeaseLength < 3*opts.Period {
		return nil, fmt.Errorf("ticker: a lease of %s does not hold three periods of %s", opts.LeaseLength, opts.Period)
	}
	t := &Ticker{store: store, opts: opts, rollups: rollup.New(opts.Holder), next: map[string]time.Time{upkeep: opts.MaintainNext}}
	if opts.Topics != nil {
		d, err := newDispatcher(store, opts, func(n int, err error) {
			t.event(Event{Kind: PublishFailed, Err: err, Count: n})
		})
		if err != nil {
			return nil, fmt.Errorf("ticker: %w", err)
		}
		t.dispatcher = d
	}
	return t, nil
}

func (o Options) withDefaults() Options {
	o.Period = cmp.Or(o.Period, time.Second)
	o.LeaseLength = cmp.Or(o.LeaseLength, 4*time.Second)
	o.Margin = cmp.Or(o.Margin, time.Second)
	o.ReapLimit = cmp.Or(o.ReapLimit, 1000)
	o.ExpireLimit = cmp.Or(o.ExpireLimit, 1000)
	o.ScheduleLimit = cmp.Or(o.ScheduleLimit, 1000)
	o.TypesPeriod = cmp.Or(o.TypesPeriod, 10*time.Second)
	o.Schedules.TickPeriod = o.Period
	if o.Schedules.Cache == nil {
		o.Schedules.Cache = new(recurrence.Cache)
	}
	o.Schedules.Takeover = cmp.Or(o.Schedules.Takeover, o.LeaseLength+o.Period)
	o.MaintainPeriod = cmp.Or(o.MaintainPeriod, time.Minute)
	if o.Chance == nil {
		o.Chance = rand.Float64
	}
	return o
}

// Tick makes one pass and waits for what it began, publishing and upkeep included. A host that invokes it
// every second needs no Run. One goroutine at a time may call it.
func (t *Ticker) Tick(ctx context.Context) (Report, error) {
	report, err := t.pass(ctx, ctx)
	t.background.Wait()
	if t.dispatcher != nil {
		err = errors.Join(err, t.dispatcher.publisher.flush(ctx, t.store))
	}
	return report, err
}

// pass is one pass while it goes on.
type pass struct {
	beside context.Context //nolint:containedctx // of what is begun beside the passes, which may go on until its end
	res    core.TickResult
	req    core.TickRequest
	report Report
}

// pass makes one pass: it does the duties that are due. In direct mode it is one call of the store when there is nothing to do.
// What it begins beside the passes, upkeep and the publishing of alerts, may go on until the end of beside.
func (t *Ticker) pass(whole, beside context.Context) (Report, error) {
	// A pass longer than its leases would act on leases it may no longer have.
	ctx, cancel := context.WithTimeout(whole, t.opts.LeaseLength)
	defer cancel()
	p := &pass{beside: beside}
	var errs error
	for i := range duties {
		d := &duties[i]
		if !t.isDue(d, p) {
			continue
		}
		if err := d.do(t, ctx, p); err == nil {
			t.done(d, p)
		} else if errs = errors.Join(errs, err); i == 0 {
			return Report{}, err
		}
	}
	if errs == nil && t.opts.OnTick != nil {
		t.opts.OnTick(p.report)
	}
	return p.report, errs
}

// tickStore makes the store's part of a pass, which says what the others have to do.
func (t *Ticker) tickStore(ctx context.Context, p *pass) error {
	p.req = core.TickRequest{
		Holder: t.opts.Holder, LeaseLength: t.opts.LeaseLength,
		ReapLimit: t.opts.ReapLimit, ReapAfter: t.reapAfter, ExpireLimit: t.opts.ExpireLimit,
		ScheduleLimit: t.opts.ScheduleLimit, WaitingAfter: t.waitingAfter, WaitingLimit: waitingAtOnce,
	}
	if t.dispatcher == nil {
		p.req.Recall = true // of a deployment that had queues before
	} else if err := t.dispatcher.prepare(ctx, &p.req); err != nil {
		return err
	}
	res, err := t.store.Tick(ctx, p.req)
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	p.res = res
	p.report = Report{
		Now: res.Now, Held: len(res.Held), Expired: res.Expired, Dispatched: len(res.Dispatched), Waiting: res.Waiting,
		More: res.Expired >= p.req.ExpireLimit, NextIn: t.opts.Period, DueIn: dueIn(res),
	}
	for _, n := range res.Queued {
		p.report.Queued += n
	}
	if res.Released {
		t.event(Event{Kind: LeasesLost})
	}
	return nil
}

// wake tells idle workers of this process which lanes are due before the next pass.
func (t *Ticker) wake(waiting []core.Lane) {
	if t.opts.Wake == nil {
		return
	}
	var due []core.Lane
	for _, lane := range waiting {
		if lane.DueIn <= t.opts.Period {
			due = append(due, lane)
		}
	}
	if len(due) > 0 {
		t.opts.Wake(due)
	}
}
