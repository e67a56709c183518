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
	earlyTime    = 2 * time.Second  // for all look-ups of one call
	earlyLookups = 16               // look-ups of one call at once
	earlyHosts   = 256              // hosts looked up by one call; the rest is left to the dial
	earlyKeep    = 10 * time.Second // how long what a host resolved to is believed here
	earlyKept    = 4096             // hosts remembered
)

// early remembers what hosts resolved to a moment ago, for CheckTargets alone: the dial always looks up anew.
type early struct {
	mu    sync.Mutex
	hosts map[string]earlyVerdict
}

type earlyVerdict struct {
	refused error
	until   time.Time
}

// CheckTargets is what create and change ask: CheckTarget for each target, and it refuses those whose host has, now,
// an address that is refused. It tells early what the dial would refuse later. A name that does not resolve now, or
// not within two seconds, passes here: the dial judges it again. Answer i is for target i.
func (g *Guard) CheckTargets(ctx context.Context, targets []json.RawMessage) []error {
	answers, hosts := make([]error, len(targets)), make([]string, len(targets))
	unknown := map[string]error{} // hosts to be looked up
	now := time.Now()
	for i, raw := range targets {
		target, err := g.parseTarget(raw)
		if err != nil {
			answers[i] = err
			continue
		}
		host := target.url.Hostname()
		if _, err := netip.ParseAddr(host); err == nil || g.trusts(host) {
			continue // judged by its text
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

// lookUp fills in which hosts are refused.
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

// atURL names the field that a host's refusal is about.
func atURL(refused error) error {
	if refused == nil {
		return nil
	}
	return &core.FieldError{Field: "target.url", Rule: refused.Error()}
}
