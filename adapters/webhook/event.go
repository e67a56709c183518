package webhook

import "time"

// HostEventKind says what changed at a host or one of its endpoints.
type HostEventKind string

// The kinds of events. Each is reported once per change.
const (
	HostPaused     HostEventKind = "webhook host left alone"     // after failed connections in a row; not repeated before HostBack
	HostBack       HostEventKind = "webhook host is back"        // a connection succeeded
	HostFull       HostEventKind = "webhook host is full"        // jobs are snoozed: the maximum of deliveries is running
	HostFree       HostEventKind = "webhook host has room"       // half of the places are free again
	EndpointPaused HostEventKind = "webhook endpoint left alone" // after failed attempts in a row; not repeated before EndpointBack
	EndpointBack   HostEventKind = "webhook endpoint is back"    // it gave a final answer
)

// HostEvent is passed to OnEvent.
type HostEvent struct {
	Kind     HostEventKind
	Host     string        // and port
	Tenant   string        // of an endpoint
	Type     string        // of an endpoint
	Failures int           // in a row (HostPaused, EndpointPaused)
	Pause    time.Duration // the first one (HostPaused, EndpointPaused)
	PerHost  int           // slots of the host (HostFull)
}

// report passes events to OnEvent. admission.mu must not be held.
func (g *admission) report(events ...HostEvent) {
	for _, e := range events {
		if e.Kind != "" && g.onEvent != nil {
			g.onEvent(e)
		}
	}
}

// hostChange returns the event for a change of a host's breaker, or the zero event.
func hostChange(r route, before, after breaker) HostEvent {
	switch {
	case before.pause == 0 && after.pause > 0:
		return HostEvent{Kind: HostPaused, Host: r.host, Failures: after.failures, Pause: after.pause}
	case before.pause > 0 && after.pause == 0:
		return HostEvent{Kind: HostBack, Host: r.host}
	}
	return HostEvent{}
}

// endpointChange does the same for an endpoint. The event names the host, the tenant and the type, but not the URL, which
// may contain a secret.
func endpointChange(r route, before, after breaker) HostEvent {
	e := hostChange(r, before, after)
	switch e.Kind {
	case HostPaused:
		e.Kind = EndpointPaused
	case HostBack:
		e.Kind = EndpointBack
	default:
		return e
	}
	e.Tenant, e.Type = r.jobTenant, r.typ
	return e
}

// filledLocked records that the host is full. The caller holds admission.mu.
func (g *admission) filledLocked(p *pass) HostEvent {
	if p.host.full {
		return HostEvent{}
	}
	p.host.full = true
	return HostEvent{Kind: HostFull, Host: p.route.host, PerHost: g.bounds.perHost}
}

// drainedLocked records that a full host has free slots again after a delivery ended. The caller holds admission.mu.
func (g *admission) drainedLocked(p *pass) HostEvent {
	if !p.host.full || p.host.inFlight > g.bounds.perHost/2 {
		return HostEvent{}
	}
	p.host.full = false
	return HostEvent{Kind: HostFree, Host: p.route.host}
}
