package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	earlyTime    = 2 * time.Second  // for all look-ups in one call
	earlyLookups = 16               // concurrent look-ups in one call
	earlyHosts   = 256              // hosts looked up in one call; the dial checks the others
	earlyKeep    = 10 * time.Second // how long a result is used
	earlyKept    = 4096             // maximum hosts remembered
)

// early caches recent look-ups, only for CheckTargets. The dial always resolves again.
type early struct {
	mu    sync.Mutex
	hosts map[string]earlyVerdict
}

type earlyVerdict struct {
	refused error
	until   time.Time
}

// CheckTargets is the check at create and change. It calls CheckTarget for each target, and also refuses targets whose host
// currently has a refused address. So callers learn early what the dial would refuse later. A name that does not resolve
// within two seconds passes here; the dial checks it again. Error i is for target i.
func (g *Guard) CheckTargets(ctx context.Context, targets []json.RawMessage) []error {
	answers, hosts := make([]error, len(targets)), make([]string, len(targets))
	unknown := map[string]error{} // hosts to look up
	now := time.Now()
	for i, raw := range targets {
		target, err := g.parseTarget(raw)
		if err != nil {
			answers[i] = err
			continue
		}
		host := target.url.Hostname()
		if _, err := netip.ParseAddr(host); err == nil || g.trusts(host) {
			continue // decided by its text
		}
		hosts[i] = host
		if refused, known := g.early.get(host, now); known {
			answers[i] = atURL(refused)
		} else if len(unknown) < earlyHosts {
			unknown[host] = nil
		}
	}
	g.lookUp(ctx, unknown)
	for i, host := range hosts {
		if answers[i] == nil && host != "" {
			answers[i] = atURL(unknown[host])
		}
	}
	return answers
}

// lookUp sets the errors of refused hosts.
func (g *Guard) lookUp(ctx context.Context, hosts map[string]error) {
	if len(hosts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(earlyTime, g.timeout))
	defer cancel()
	var mu sync.Mutex
	var lookups sync.WaitGroup
	places := make(chan struct{}, earlyLookups)
	names := make([]string, 0, len(hosts))
	for host := range hosts {
		names = append(names, host)
	}
	for _, host := range names {
		places <- struct{}{}
		lookups.Go(func() {
			defer func() { <-places }()
			var refused *RefusedError
			if _, err := g.resolve(ctx, host); errors.As(err, &refused) {
				mu.Lock()
				hosts[host] = refused
				mu.Unlock()
				g.early.put(host, refused)
			} else if err == nil {
				g.early.put(host, nil)
			}
		})
	}
	lookups.Wait()
}

func (e *early) get(host string, now time.Time) (refused error, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, known := e.hosts[host]
	return v.refused, known && now.Before(v.until)
}

func (e *early) put(host string, refused error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hosts == nil || len(e.hosts) >= earlyKept {
		e.hosts = map[string]earlyVerdict{}
	}
	e.hosts[host] = earlyVerdict{refused, time.Now().Add(earlyKeep)}
}

// atURL sets the field of a host's refusal.
func atURL(refused error) error {
	if refused == nil {
		return nil
	}
	return &core.FieldError{Field: "target.url", Rule: refused.Error()}
}
