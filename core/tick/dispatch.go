package tick

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/fleet"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/share"
	"github.com/belfry-dev/belfry/core/typecache"
)

// DispatchOptions are the settings of queue mode.
type DispatchOptions struct {
	Concurrency map[core.Priority]int // jobs the consumers of a priority run at once, as declared. Zero means unknown
	Ceiling     int                   // of the window of a priority. Zero means WindowCeiling

	PassLimit      int           // rows marked queued in one pass. Zero means 5,000
	RepublishLimit int           // rows published again in one pass. Zero means 1,000
	Lease          time.Duration // first dispatch lease. Zero means 10 s
	LeaseMax       time.Duration // the doubled lease's bound. Zero means 5 min
	MinGap         time.Duration // shortest pause between passes. Zero means 5 ms

	Group      int // messages of one Send. Zero means 500
	Publishers int // Sends at once per priority. Zero means 4
}

func (o DispatchOptions) withDefaults() DispatchOptions {
	o.PassLimit = cmp.Or(o.PassLimit, 5000)
	o.RepublishLimit = cmp.Or(o.RepublishLimit, 1000)
	o.Lease = cmp.Or(o.Lease, 10*time.Second)
	o.LeaseMax = cmp.Or(o.LeaseMax, 5*time.Minute)
	o.MinGap = cmp.Or(o.MinGap, 5*time.Millisecond)
	o.Group = cmp.Or(o.Group, 500)
	o.Publishers = cmp.Or(o.Publishers, 4)
	return o
}

// dispatcher is the Ticker's queue mode: it decides what a pass may mark queued and publishes what it did.
type dispatcher struct {
	store       core.TickStore
	opts        DispatchOptions
	fleet       *fleet.View
	types       *typecache.Cache // nil: none are known
	unannounced bool             // types that nobody announces are published, too
	period      time.Duration
	observe     func([]core.Job)
	publisher   *publisher

	groups  queuegroup.Groups
	windows map[queuegroup.Key]*Window
	lanes   share.LanePlan                   // what waits, as the last pass saw it
	seen    time.Time                        // when that was, on this process's clock
	gaps    map[queuegroup.Key]time.Duration // between passes, for each queue that has a backlog

	mu    sync.Mutex
	spare map[queuegroup.Key]int // credit left for dispatch at submit until the next pass
	given map[queuegroup.Key]int // credit taken since the last pass
}

func newDispatcher(store Store, opts Options, failed func(n int, err error)) (*dispatcher, error) {
	d := &dispatcher{
		store: store, opts: opts.Dispatch.withDefaults(), period: opts.Period, observe: opts.OnDispatch,
		fleet: fleet.NewView(store), types: opts.Schedules.Types, unannounced: opts.Unannounced,
		windows: map[queuegroup.Key]*Window{}, gaps: map[queuegroup.Key]time.Duration{}, spare: map[queuegroup.Key]int{}, given: map[queuegroup.Key]int{}, groups: queuegroup.GroupsOfTopics(opts.Topics),
	}
	for _, key := range d.groups.Keys() {
		if opts.Topics[key.Priority] == nil {
			return nil, fmt.Errorf("no topic for priority %s", key.Priority)
		}
		w := NewWindow(d.opts.Concurrency[key.Priority], d.opts.Ceiling)
		d.windows[key] = &w
	}
	d.lanes.Groups = d.groups
	d.publisher = newPublisher(opts.Topics, d.opts, failed)
	return d, nil
}

// made takes in jobs that were made since the last pass, by lane, and reports whether the next pass has any of them to
// publish. Those of types that are not published now wait in the table, as those of a submit do, until a pass finds them.
func (d *dispatcher) made(ctx context.Context, jobs map[core.Lane][]*core.NewJob) bool {
	published := d.fleet.Publisher(ctx, d.types, d.unannounced)
	var lanes []core.Lane
	for lane, of := range jobs {
		if slices.ContainsFunc(of, published) {
			lanes = append(lanes, lane)
		}
	}
	d.lanes.Made(lanes)
	return len(lanes) > 0
}

// prepare adds queue mode's part to a pass's request: first what was sent in vain is made due again.
func (d *dispatcher) prepare(ctx context.Context, req *core.TickRequest) error {
	if err := d.publisher.returnFailed(ctx, d.store); err != nil {
		return err
	}
	if d.publisher.behind() {
		return nil // the queue takes less than was marked already: more would only burn dispatch leases
	}
	req.Dispatch, req.Unannounced, req.CountTypes = true, d.unannounced, len(d.groups.Names()) > 0
	req.DispatchLease, req.DispatchLeaseMax, req.RepublishLimit = d.opts.Lease, d.opts.LeaseMax, d.opts.RepublishLimit
	req.Quotas = d.lanes.Quotas(d.credits(), d.opts.PassLimit, time.Now(), time.Since(d.seen))
	return nil
}

// credits is how many jobs of each queue may be marked queued now.
func (d *dispatcher) credits() map[queuegroup.Key]int {
	credits := make(map[queuegroup.Key]int, len(d.windows))
	for p, w := range d.windows {
		credits[p] = w.Credit(time.Since(d.seen))
	}
	return credits
}

// dispatch publishes what a pass marked, learns from it, and answers when the next pass is useful.
func (d *dispatcher) dispatch(req core.TickRequest, res core.TickResult) (nextIn time.Duration) {
	if len(res.Dispatched) > 0 {
		if d.observe != nil {
			d.observe(res.Dispatched)
		}
		d.publisher.publish(res.Dispatched)
	}
	if !req.Dispatch || len(res.Held) == 0 {
		d.setSpare(nil)
		return d.standBy(len(res.Held) == 0)
	}
	d.seen = time.Now()
	d.lanes.Learn(res, d.seen)
	taken := map[queuegroup.Key]int{}
	for i, t := range res.Taken {
		taken[d.groups.KeyOf(req.Quotas[i].Priority, req.Quotas[i].Type)] += t.N
	}
	given, spare, backlogs := d.takeGiven(), map[queuegroup.Key]int{}, d.lanes.Backlogs()
	queued := d.groups.Queued(res.Queued, res.QueuedTypes)
	gap := d.period // the queue that is most in a hurry decides
	for key, w := range d.windows {
		before, backlog := queued[key], backlogs[key]
		w.Added(given[key])
		w.Observe(res.Now, before, taken[key], backlog)
		if backlog {
			d.gaps[key] = d.pace(cmp.Or(d.gaps[key], d.opts.MinGap), before, w)
			gap = min(gap, d.gaps[key])
		} else {
			delete(d.gaps, key)
			spare[key] = w.Credit(0) / 2
		}
	}
	d.setSpare(spare)
	republished := len(res.Dispatched)
	for _, n := range taken {
		republished -= n
	}
	switch {
	case len(backlogs) > 0:
		return gap
	case republished >= d.opts.RepublishLimit:
		return d.opts.MinGap
	}
	return max(d.opts.MinGap, min(d.period, d.lanes.NextDue(d.period)))
}

// standBy is the pass of one that marks nothing: without buckets, so that what it knew of the queue grows old,
// or waiting for its own publishing.
func (d *dispatcher) standBy(deposed bool) (nextIn time.Duration) {
	if !deposed {
		return d.period / 10
	}
	for _, w := range d.windows {
		w.Forget()
	}
	return d.period
}

// pace is the pause between passes while a queue has a backlog, of the pause before: none to speak of while there is credit or
// consumers nearly emptied the queue, else until a quarter of what is queued will have been started at the rate of late: a pass
// that marks a few rows costs nearly as much as one that marks thousands. Where nothing is started it grows to a period.
func (d *dispatcher) pace(gap time.Duration, before int, w *Window) time.Duration {
	switch size, half := w.Size(), w.HalfIn(); {
	case w.Credit(0) >= size/4 || before < size/4:
		return d.opts.MinGap
	case half > 0:
		return max(d.opts.MinGap, min(d.period, half/2))
	case before > size*3/4:
		return min(d.period, 2*gap)
	case before < size/2:
		return max(d.opts.MinGap, gap/2)
	}
	return gap
}

// TakeCredit asks for dispatch at submit: of n jobs of a queue that are due at once, how many may be
// written as queued and published by the submitter. None while the queue has a backlog, or in
// direct mode. Any number of goroutines may call it.
func (t *Ticker) TakeCredit(_ context.Context, queue queuegroup.Key, n int) int {
	if t.dispatcher == nil {
		return 0
	}
	return t.dispatcher.take(queue, n)
}

func (d *dispatcher) take(queue queuegroup.Key, n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n = min(n, d.spare[queue])
	d.spare[queue] -= n
	d.given[queue] += n
	return n
}

func (d *dispatcher) takeGiven() map[queuegroup.Key]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	given := d.given
	d.given = map[queuegroup.Key]int{}
	return given
}

func (d *dispatcher) setSpare(spare map[queuegroup.Key]int) {
	if spare == nil {
		spare = map[queuegroup.Key]int{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spare = spare
}
