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

// Store holds the store methods that a Ticker needs: the tick, the workers' types, the ends of lost attempts, and their
// counts.
type Store interface {
	core.TickStore
	core.FleetStore
	core.ScheduleStore
	Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error)
	AddRollups(ctx context.Context, shard int, rows []core.Rollup) error
	Cancel(ctx context.Context, id int64) (core.Job, error)
}

// Ticker is the scheduler. Each pass renews the bucket leases, ends attempts whose worker is gone, cancels expired jobs and,
// in queue mode, publishes due jobs to their queues. All its state is in the store: a Ticker that dies at any point loses
// nothing, and any number may run at once. It knows no handlers, so it also serves types that only other processes handle.
type Ticker struct {
	store Store
	opts  Options

	reapAfter    int64                // id of the last listed lost job, 0 at the start of a round
	next         map[string]time.Time // next time of each duty, by its name
	dispatcher   *dispatcher
	background   sync.WaitGroup // upkeep
	maintaining  atomic.Bool    // only one upkeep runs at a time
	rollups      *rollup.Counts // counts of lost attempts, which their workers cannot write any more
	waitingAfter int64          // id of the last checked schedule with a waiting run, 0 at the start of a round
	zonesChecked bool           // no schedule in the held buckets was computed with another time zone database
	zonesHeld    int            // number of buckets when zonesChecked was set
	dueIn        time.Duration  // set when Run left idle: time until the next job or schedule is due
	alerting     atomic.Bool    // only one publishing of alerts runs at a time
	events       sync.Mutex     // serializes calls of OnEvent
}

// Options are the settings of a Ticker.
type Options struct {
	Holder      string        // unique name of this scheduler; required
	Period      time.Duration // from one pass to the next. Zero means 1 s
	LeaseLength time.Duration // of bucket leases; at least three periods. Zero means 4 s
	Margin      time.Duration // reserved before ctx's deadline for leaving. Zero means 1 s

	ReapLimit      int                  // lost attempts ended in one pass. Zero means 1,000
	ExpireLimit    int                  // jobs expired in one pass. Zero means 1,000
	Maintain       core.MaintainRequest // retention of rows. Zero means for ever
	MaintainPeriod time.Duration        // between upkeeps, jittered. Zero means 1 min
	MaintainNext   time.Time            // no upkeep before this. Zero means at once

	ScheduleLimit int              // schedules advanced in one pass. Zero means 1,000
	Schedules     schedule.Options // how their plans are made; the period is the Ticker's
	Counts        *schedule.Counts // counts the outcomes of due instants. Nil means no counts

	TypesPeriod time.Duration // between checks for types without a success. Zero means 10 s

	// LeaveIdle ends Run after a pass that found nothing to do, if nothing is due within this time. It is for hosts that
	// start another Run by then, and earlier if something becomes due. Zero means that Run does not end.
	LeaveIdle time.Duration
	// LeaveAfter is how long Run lasts before it may leave idle. Zero means no minimum.
	LeaveAfter time.Duration

	// Topics receive due jobs. Nil means direct mode: workers claim from the store themselves.
	Topics   map[core.Priority]core.Topic
	Dispatch DispatchOptions // queue mode's settings. Zero means the defaults
	// Unannounced also publishes jobs of types that no live worker handles. It is for consumers that only a message starts,
	// such as functions. Zero means that only types handled by a live worker are published.
	Unannounced bool

	Wake       func(due []core.Lane)       // called with lanes due before the next pass. Nil means no call
	OnDispatch func(dispatched []core.Job) // called with jobs after their commit as queued and before their publishing. Nil means no call
	OnTick     func(Report)                // called after every successful pass. Nil means no call
	OnEvent    func(Event)                 // called with events for an operator, one at a time. Nil means no call
	// OnAlerts publishes alerts in their current state. Alerts are passed again until it returns nil for them. Nil means no
	// call.
	OnAlerts func(ctx context.Context, alerts []core.Alert) error
	Chance   func() float64 // in [0, 1), for jitter. Nil means math/rand
}

// Report describes one pass.
type Report struct {
	Now        time.Time // the store's time, used for the whole pass
	Held       int       // buckets held
	Lost       int       // attempts ended as lost
	Expired    int
	Schedules  int // schedules advanced
	Runs       int // jobs made by them
	Dispatched int // jobs published, including repeated ones
	Waiting    []core.Lane
	Queued     int           // queue mode: rows that were queued before this pass
	DueIn      time.Duration // time until the next known job or schedule is due, at most an hour. ≤ 0 means due
	More       bool          // a limit was reached: another pass would find more
	NextIn     time.Duration // queue mode: time until the next pass is useful, at most a period
}

// New checks the options and makes a Ticker. The first pass makes the first calls.
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

// Tick makes one pass and waits for everything it started, including publishing and upkeep. A host that calls it every
// second needs no Run. Only one goroutine at a time may call it.
func (t *Ticker) Tick(ctx context.Context) (Report, error) {
	report, err := t.pass(ctx, ctx)
	t.background.Wait()
	if t.dispatcher != nil {
		err = errors.Join(err, t.dispatcher.publisher.flush(ctx, t.store))
	}
	return report, err
}

// pass is the state of one pass.
type pass struct {
	beside context.Context //nolint:containedctx // for work in the background, which may outlive the pass
	res    core.TickResult
	req    core.TickRequest
	report Report
}

// pass makes one pass: it does the duties that are due. In direct mode an idle pass is one call of the store. Upkeep and
// publishing of alerts run in the background, at most until beside ends.
func (t *Ticker) pass(whole, beside context.Context) (Report, error) {
	// A pass longer than its leases could act on leases it has lost.
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

// tickStore calls the store's Tick, whose result says what the other duties have to do.
func (t *Ticker) tickStore(ctx context.Context, p *pass) error {
	p.req = core.TickRequest{
		Holder: t.opts.Holder, LeaseLength: t.opts.LeaseLength,
		ReapLimit: t.opts.ReapLimit, ReapAfter: t.reapAfter, ExpireLimit: t.opts.ExpireLimit,
		ScheduleLimit: t.opts.ScheduleLimit, WaitingAfter: t.waitingAfter, WaitingLimit: waitingAtOnce,
	}
	if t.dispatcher == nil {
		p.req.Recall = true // jobs queued by a deployment that had queues before
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

// wake tells idle workers in this process which lanes are due before the next pass.
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
