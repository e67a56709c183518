package webhook

import "time"

// HostEventKind says what changed at a host.
type HostEventKind string

// What an operator should know, each told once per change.
const (
	HostPaused HostEventKind = "webhook host left alone" // after failures in a row; told again only after HostBack
	HostBack   HostEventKind = "webhook host is back"    // a delivery got an answer
	HostFull   HostEventKind = "webhook host is full"    // jobs are snoozed: as many deliveries run as may
	HostFree   HostEventKind = "webhook host has room"   // half of the places are free again
)

// HostEvent is told to OnEvent.
type HostEvent struct {
	Kind     HostEventKind
	Host     string        // and port
	Failures int           // in a row (HostPaused)
	Pause    time.Duration // the first (HostPaused)
	PerHost  int           // places (HostFull)
}

// tell tells the host's owner. gates.mu must not be held.
func (g *gates) tell(events ...HostEvent) {
	for _, e := range events {
		if e.Kind != "" && g.onEvent != nil {
			g.onEvent(e)
		}
	}
}

// change is what an end did to the breaker, if an operator should know.
func change(host string, before, after breaker) HostEvent {
	switch {
	case before.pause == 0 && after.pause > 0:
		return HostEvent{Kind: HostPaused, Host: host, Failures: after.failures, Pause: after.pause}
	case before.pause > 0 && after.pause == 0:
		return HostEvent{Kind: HostBack, Host: host}
	}
	return HostEvent{}
}

// filledLocked notes that the host is full; gates.mu is held.
func (g *gates) filledLocked(h *gate) HostEvent {
	if h.full || len(h.slots) <= g.perHost/2 { // free again meanwhile
		return HostEvent{}
	}
	h.full = true
	return HostEvent{Kind: HostFull, Host: h.host, PerHost: g.perHost}
}

// drainedLocked notes that a full host has room again now that a delivery ends; gates.mu is held.
func (g *gates) drainedLocked(h *gate) HostEvent {
	if !h.full || len(h.slots)-1 > g.perHost/2 {
		return HostEvent{}
	}
	h.full = false
	return HostEvent{Kind: HostFree, Host: h.host}
}
