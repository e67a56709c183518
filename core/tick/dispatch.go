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
	Concurrency map[core.Priority]int // declared number of jobs that the consumers of a priority run at once. Zero means unknown
	Ceiling     int                   // maximum window of a priority. Zero means WindowCeiling

	PassLimit      int           // rows marked queued in one pass. Zero means 5,000
	RepublishLimit int           // rows published again in one pass. Zero means 1,000
	Lease          time.Duration // first dispatch lease. Zero means 10 s
	LeaseMax       time.Duration // maximum of the lease, which doubles. Zero means 5 min
	MinGap         time.Duration // shortest pause between passes. Zero means 5 ms

	Group      int // messages in one Send. Zero means 500
	Publishers int // concurrent Sends per priority. Zero means 4
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

// dispatcher is queue mode's part of the Ticker: it decides how many jobs a pass may mark as queued, and publishes them.
type dispatcher struct {
	store       core.TickStore
	opts        DispatchOptions
	fleet       *fleet.View
	types       *typecache.Cache // nil: no types are known
	unannounced bool             // also publish types that no live worker handles
	period      time.Duration
	observe     func([]core.Job)
	publisher   *publisher

	groups  queuegroup.Groups
	windows map[queuegroup.Key]*Window
	lanes   share.LanePlan                   // the waiting lanes that the last pass found
	seen    time.Time                        // time of the last pass, on this process's clock
	gaps    map[queuegroup.Key]time.Duration // pause between passes for each queue with a backlog

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

// recordCreated records jobs that were created since the last pass, by lane, and reports whether the next pass must publish
// any of them. Jobs of types that are not published now wait in the table until a later pass finds them, as submitted jobs
// do.
func (d *dispatcher) recordCreated(ctx context.Context, jobs map[core.Lane][]*core.NewJob) bool {
	published := d.fleet.Publisher(ctx, d.types, d.unannounced)
	var lanes []core.Lane
	for lane, of := range jobs {
		if slices.ContainsFunc(of, published) {
			lanes = append(lanes, lane)
		}
	}
	d.lanes.RecordCreated(lanes)
	return len(lanes) > 0
}

// prepare adds queue mode's part to a pass's request. First it makes jobs due again whose messages failed to be sent.
func (d *dispatcher) prepare(ctx context.Context, req *core.TickRequest) error {
	if err := d.publisher.returnFailed(ctx, d.store); err != nil {
		return err
	}
	if d.publisher.behind() {
		return nil // more is marked than the queue accepts: marking more would only use up dispatch leases
	}
	req.Dispatch, req.Unannounced, req.CountTypes = true, d.unannounced, len(d.groups.Names()) > 0
	req.DispatchLease, req.DispatchLeaseMax, req.RepublishLimit = d.opts.Lease, d.opts.LeaseMax, d.opts.RepublishLimit
	req.Quotas = d.lanes.Quotas(d.credits(), d.opts.PassLimit, time.Now(), time.Since(d.seen))
	return nil
}

// credits returns how many jobs of each queue may be marked as queued now.
func (d *dispatcher) credits() map[queuegroup.Key]int {
	credits := make(map[queuegroup.Key]int, len(d.windows))
	for p, w := range d.windows {
		credits[p] = w.Credit(time.Since(d.seen))
	}
	return credits
}

// dispatch publishes the jobs that a pass marked, learns from its result, and returns when the next pass is useful.
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
	gap := d.period // the most urgent queue decides
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

// standBy handles a pass that marks nothing. If it holds no buckets, its knowledge of the queues is outdated; otherwise it
// waits for its own publishing.
func (d *dispatcher) standBy(deposed bool) (nextIn time.Duration) {
	if !deposed {
		return d.period / 10
	}
	for _, w := range d.windows {
		w.Forget()
	}
	return d.period
}

// pace returns the next pause between passes while a queue has a backlog; gap is the pause before. It is minimal while there
// is credit or the consumers have nearly emptied the queue. Otherwise it lasts until a quarter of the queued jobs will have
// started at the recent rate, because a pass that marks a few rows costs nearly as much as one that marks thousands. While
// nothing starts, it grows to a period.
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

// TakeCredit returns how many of n due jobs of a queue the submitter may write as queued and publish itself. It returns 0
// while the queue has a backlog, and in direct mode. It is safe for concurrent use.
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
