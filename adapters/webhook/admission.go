package webhook

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	fullSnooze      = time.Second // first snooze of a job without a free slot; it doubles
	fullSnoozeSteps = 5           // up to 32 s
)

// admission snoozes jobs whose host or endpoint is failing, and jobs without a free slot. A snooze uses no attempt and frees
// the worker's slot.
type admission struct {
	breaker BreakerOptions
	bounds  bounds
	wait    time.Duration // how long a job waits for a free slot
	now     func() time.Time
	chance  func() float64
	onEvent func(HostEvent) // nil means no reports

	mu        sync.Mutex
	inFlight  int
	tenants   map[string]int // deliveries in flight
	hosts     places
	endpoints places
	waiting   []*waiter // in order of arrival
}

// place is the state of one host or endpoint. admission.mu guards it.
type place struct {
	breaker  breaker
	inFlight int
	parties  map[placeKey]int // of a host: deliveries in flight by tenant and by path
	waiting  int              // of a host: jobs that wait for a free slot
	users    int              // waiting deliveries and those in flight; if there are none, the place may be forgotten
	full     bool             // HostFull was reported
}

// pass is the permission for one delivery. leave ends it.
type pass struct {
	admission      *admission
	route          route
	host, endpoint *place
	hostProbe      bool // this delivery probes the host's connections
	endpointProbe  bool // this delivery probes the endpoint's answers
}

// waiter is a job that waits for a free slot.
type waiter struct {
	pass *pass
	let  chan error // gets one value, with admission.mu held: nil if the delivery is admitted, or a snooze
}

// enter waits briefly for a free slot of the tenant, the host and the endpoint. The error is a snooze, or the cause of the
// end of ctx.
func (g *admission) enter(ctx context.Context, r route) (*pass, error) {
	g.mu.Lock()
	p := g.useLocked(r)
	if err := g.admitLocked(p); err != nil {
		g.mu.Unlock()
		return nil, err
	}
	if g.bounds.room(g, p) == roomLeft {
		g.beginLocked(p)
		g.mu.Unlock()
		return p, nil
	}
	w := g.queueLocked(p)
	g.mu.Unlock()
	if w == nil {
		return nil, g.full(p)
	}
	return g.awaitAdmission(ctx, w)
}

// useLocked counts a user of the route's places, and creates them if necessary.
func (g *admission) useLocked(r route) *pass {
	now := g.now()
	return &pass{
		admission: g, route: r,
		host:     g.hosts.use(r.hostKey(), now, g.breaker),
		endpoint: g.endpoints.use(r.endpointKey(), now, g.breaker),
	}
}

// awaitAdmission waits until the job is admitted, or until its waiting time or ctx ends.
func (g *admission) awaitAdmission(ctx context.Context, w *waiter) (*pass, error) {
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case err := <-w.let:
		return w.pass.unless(err)
	case <-timer.C:
	case <-ctx.Done():
	}
	if !g.unqueue(w) { // it was admitted or refused in the meantime
		return w.pass.unless(<-w.let)
	}
	if ctx.Err() != nil {
		g.release(w.pass)
		return nil, fmt.Errorf("target %s: %w", w.pass.route.host, context.Cause(ctx))
	}
	return nil, g.full(w.pass)
}

func (p *pass) unless(err error) (*pass, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// admitLocked asks both breakers. If one is open, it releases the job's places and returns a snooze.
func (g *admission) admitLocked(p *pass) error {
	now := g.now()
	var ok bool
	var wait time.Duration
	if p.hostProbe, ok, wait = p.host.breaker.admit(p.route.job, now); !ok {
		g.releaseLocked(p)
		return g.closed(p.route, p.host, "failed connections", wait)
	}
	if p.endpointProbe, ok, wait = p.endpoint.breaker.admit(p.route.job, now); !ok {
		g.releaseLocked(p)
		return g.closed(p.route, p.endpoint, "failed attempts", wait)
	}
	return nil
}

// beginLocked counts an admitted delivery that has a free slot.
func (g *admission) beginLocked(p *pass) {
	now := g.now()
	if p.hostProbe {
		p.host.breaker.begin(now)
	}
	if p.endpointProbe {
		p.endpoint.breaker.begin(now)
	}
	g.inFlight++
	g.tenants[p.route.tenant]++
	p.host.inFlight++
	p.host.count(p.route, 1)
	p.endpoint.inFlight++
}

// connected reports a successful connection to the host at once, so that other deliveries need not wait for this one's
// answer.
func (p *pass) connected() {
	g := p.admission
	g.mu.Lock()
	event := g.hostEndLocked(p, healthy)
	g.mu.Unlock()
	g.report(event)
}

// hostEndLocked records the result of the connection to the host, once per delivery.
func (g *admission) hostEndLocked(p *pass, v verdict) HostEvent {
	before := p.host.breaker
	p.host.breaker.end(v, p.hostProbe, p.route.job, g.now(), g.breaker)
	p.hostProbe = false
	return hostChange(p.route, before, p.host.breaker)
}

// leave ends the delivery and records the results for its host and its endpoint.
func (p *pass) leave(host, endpoint verdict) {
	g := p.admission
	g.mu.Lock()
	hostChanged := g.hostEndLocked(p, host)
	before := p.endpoint.breaker
	p.endpoint.breaker.end(endpoint, p.endpointProbe, p.route.job, g.now(), g.breaker)
	changed := endpointChange(p.route, before, p.endpoint.breaker)
	g.inFlight--
	if g.tenants[p.route.tenant]--; g.tenants[p.route.tenant] == 0 {
		delete(g.tenants, p.route.tenant)
	}
	p.host.inFlight--
	p.host.count(p.route, -1)
	p.endpoint.inFlight--
	drained := g.drainedLocked(p)
	g.releaseLocked(p)
	g.admitWaitingLocked()
	g.mu.Unlock()
	g.report(hostChanged, changed, drained)
}

// queueLocked adds the job to the waiters. It returns nil if enough jobs already wait.
func (g *admission) queueLocked(p *pass) *waiter {
	if len(g.waiting) >= g.bounds.waiting() || p.host.waiting >= g.bounds.perHost {
		return nil
	}
	w := &waiter{pass: p, let: make(chan error, 1)}
	g.waiting = append(g.waiting, w)
	p.host.waiting++
	return w
}

// unqueue ends a wait, and reports whether it was still waiting.
func (g *admission) unqueue(w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, w)
	if i < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	w.pass.host.waiting--
	return true
}

// admitWaitingLocked admits waiters that now have a free slot, and refuses those whose breaker has opened.
func (g *admission) admitWaitingLocked() {
	kept := g.waiting[:0]
	for _, w := range g.waiting {
		if g.inFlight >= g.bounds.slots || g.bounds.room(g, w.pass) != roomLeft {
			kept = append(kept, w)
			continue
		}
		w.pass.host.waiting--
		err := g.admitLocked(w.pass)
		if err == nil {
			g.beginLocked(w.pass)
		}
		w.let <- err
	}
	clear(g.waiting[len(kept):])
	g.waiting = kept
}

func (g *admission) release(p *pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.releaseLocked(p)
}

// releaseLocked releases the job's places, and forgets places without a state to keep.
func (g *admission) releaseLocked(p *pass) {
	p.host.users--
	p.endpoint.users--
	if p.host.forgotten() {
		delete(g.hosts, p.route.hostKey())
	}
	if p.endpoint.forgotten() {
		delete(g.endpoints, p.route.endpointKey())
	}
}

// closed returns the snooze of a job whose host or endpoint is paused. Waits are jittered, so that jobs do not all come back
// at once.
func (g *admission) closed(r route, at *place, failed string, wait time.Duration) error {
	wait += time.Duration(g.chance() * float64(at.breaker.pause) / 2)
	return fmt.Errorf("target %s is left alone after %d %s in a row: %w", r.host, at.breaker.failures, failed, core.Snooze(wait))
}

// full returns the snooze of a job without a free slot, and releases its places.
func (g *admission) full(p *pass) error {
	g.mu.Lock()
	lacks := g.bounds.room(g, p)
	var filled HostEvent
	if lacks == hostFull {
		filled = g.filledLocked(p)
	}
	g.releaseLocked(p)
	g.mu.Unlock()
	g.report(filled)
	wait := fullSnooze << min(max(p.route.snoozes, 0), fullSnoozeSteps)
	wait = wait/2 + time.Duration(g.chance()*float64(wait))
	return fmt.Errorf("target %s: %s: %w", p.route.host, lacks, core.Snooze(wait))
}
