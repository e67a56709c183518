package webhook

import (
	"net/netip"
	"sync"
	"time"
)

const (
	refusalEvery = time.Minute // how often one name is reported
	maxRefusals  = 1024        // maximum names remembered
)

// refusals reports refused addresses to an operator, at a rate that a log can take.
type refusals struct {
	told func(host string, address netip.Addr)

	mu   sync.Mutex
	last map[string]time.Time
}

func (r *refusals) tell(host string, address netip.Addr) {
	if r.told == nil || !r.due(host, time.Now()) {
		return
	}
	r.told(host, address)
}

// due reports whether the name was not reported recently. If there are too many names, it forgets all of them.
func (r *refusals) due(host string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, known := r.last[host]; known && now.Sub(last) < refusalEvery {
		return false
	}
	if r.last == nil || len(r.last) >= maxRefusals {
		r.last = map[string]time.Time{}
	}
	r.last[host] = now
	return true
}
