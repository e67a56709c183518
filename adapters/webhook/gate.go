package webhook

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	fullSnooze      = time.Second // of a job whose host is full, the first time; it doubles
	fullSnoozeSteps = 5           // up to 32 s
	sweepFrom       = 1024        // hosts remembered before the first look for some to forget
)

// gates holds back jobs whose host is failing or has as many deliveries as it may: they are snoozed, which costs
// them no attempt and frees their worker's slot.
type gates struct {
	breaker BreakerOptions
	perHost int
	wait    time.Duration
	now     func() time.Time
	chance  func() float64
	onEvent func(HostEvent) // nil means nobody is told

	mu      sync.Mutex
	hosts   map[string]*gate
	sweepAt int
}

// gate is what is known of one host. All but slots is guarded by gates.mu.
type gate struct {
	host    string
	breaker breaker
	slots   chan struct{} // holds one item per delivery in flight
	users   int           // deliveries that wait or are in flight; none: it may be forgotten
	waiting int
	full    bool // said to be full
}

// pass is the right to one delivery to a host. leave ends it.
type pass struct {
	gates *gates
	gate  *gate
	probe bool
}

// enter waits, shortly, for a place among the host's deliveries. The error is a snooze, or the end of ctx.
func (g *gates) enter(ctx context.Context, host string, snoozes int) (*pass, error) {
	h, err := g.admit(host, snoozes)
	if err != nil {
		return nil, err
	}
	select {
	case h.slots <- struct{}{}:
		return g.begin(h, snoozes)
	default:
	}
	if !g.queue(h, 1) {
		g.forget(h)
		return nil, g.full(h, snoozes)
	}
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	defer g.queue(h, -1)
	select {
	case h.slots <- struct{}{}:
		return g.begin(h, snoozes)
	case <-timer.C:
		err = g.full(h, snoozes)
	case <-ctx.Done():
		err = fmt.Errorf("target %s: %w", host, context.Cause(ctx))
	}
	g.forget(h)
	return nil, err
}

// admit counts a user of the host's gate, unless its breaker is open.
func (g *gates) admit(host string, snoozes int) (*gate, error) {
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[host]
	if h == nil {
		g.sweepLocked(now)
		h = &gate{host: host, slots: make(chan struct{}, g.perHost)}
		g.hosts[host] = h
	}
	if _, ok, wait := h.breaker.allow(now); !ok {
		return nil, g.closed(h, wait)
	}
	h.users++
	return h, nil
}

// begin starts a delivery in a slot just taken, unless the breaker opened while it was waited for.
func (g *gates) begin(h *gate, snoozes int) (*pass, error) {
	g.mu.Lock()
	now := g.now()
	probe, ok, wait := h.breaker.allow(now)
	if ok {
		if probe {
			h.breaker.probing, h.breaker.overdue = true, now.Add(probePatience)
		}
		g.mu.Unlock()
		return &pass{g, h, probe}, nil
	}
	err := g.closed(h, wait)
	g.mu.Unlock()
	<-h.slots
	g.forget(h)
	return nil, err
}

// leave ends the delivery and tells the breaker what it showed of the host.
func (p *pass) leave(v verdict) {
	now := p.gates.now()
	p.gates.mu.Lock()
	before := p.gate.breaker
	p.gate.breaker.end(v, p.probe, now, p.gates.breaker)
	changed, drained := change(p.gate.host, before, p.gate.breaker), p.gates.drainedLocked(p.gate)
	p.gates.mu.Unlock()
	<-p.gate.slots
	p.gates.forget(p.gate)
	p.gates.tell(changed, drained)
}

// queue changes how many wait at the gate; it refuses more than there are slots.
func (g *gates) queue(h *gate, by int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if by > 0 && h.waiting >= g.perHost {
		return false
	}
	h.waiting += by
	return true
}

// forget ends a use of the gate and drops what is not worth remembering.
func (g *gates) forget(h *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.users--
	if h.users == 0 && h.breaker.failures == 0 {
		delete(g.hosts, h.host)
	}
}

// sweepLocked keeps the memory of failing hosts in proportion to those that failed lately.
func (g *gates) sweepLocked(now time.Time) {
	if len(g.hosts) < max(g.sweepAt, sweepFrom) {
		return
	}
	maps.DeleteFunc(g.hosts, func(_ string, h *gate) bool { return h.users == 0 && h.breaker.forgettable(now, g.breaker) })
	g.sweepAt = 2 * len(g.hosts)
}

// closed is the snooze of a job whose host is left alone. Waits are spread, so that not all come back at once.
func (g *gates) closed(h *gate, wait time.Duration) error {
	wait += time.Duration(g.chance() * float64(h.breaker.pause) / 2)
	return fmt.Errorf("target %s is left alone after %d failed attempts in a row: %w", h.host, h.breaker.failures, core.Snooze(wait))
}

// full is the snooze of a job whose host has all the deliveries it may have.
func (g *gates) full(h *gate, snoozes int) error {
	g.mu.Lock()
	filled := g.filledLocked(h)
	g.mu.Unlock()
	g.tell(filled)
	wait := fullSnooze << min(max(snoozes, 0), fullSnoozeSteps)
	wait = wait/2 + time.Duration(g.chance()*float64(wait))
	return fmt.Errorf("target %s has %d deliveries in flight: %w", h.host, g.perHost, core.Snooze(wait))
}
