package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/dnstest"
)

// Create and change also refuse targets by their resolved addresses, item by item. A name that does not resolve is left to
// the dial.
func TestCheckTargetsLooksUpNames(t *testing.T) {
	dns := dnstest.Start(t)
	dns.Set("public.example.com", "93.184.216.34", "2606:4700:4700::1111")
	dns.Set("private.example.com", "93.184.216.34", "10.0.0.5")
	dns.Set("hooks.corp.example", "10.0.0.5")
	g := newGuard(t, GuardOptions{Resolver: dns.Resolver(), Allow: []string{"hooks.corp.example"}})
	urls := []struct {
		url     string
		refused bool
	}{
		{"https://public.example.com/a", false}, {"https://private.example.com/a", true}, {"https://hooks.corp.example/", false},
		{"https://nobody.example.com/", false}, {"https://127.0.0.1/", true}, {"https://8.8.8.8/", false}, {"ftp://public.example.com/", true},
		{"https://private.example.com/b", true}, {"https://public.example.com/b", false},
	}
	var targets []json.RawMessage
	for _, row := range urls {
		targets = append(targets, targetOf(row.url))
	}
	for round := range 2 { // the second time from the cache
		for i, err := range g.CheckTargets(t.Context(), targets) {
			var field *core.FieldError
			if (err != nil) != urls[i].refused || err != nil && (!errors.As(err, &field) || field.Field != "target.url") {
				t.Errorf("round %d, %s: %v", round, urls[i].url, err)
			}
		}
	}
}

// A batch to thousands of hosts checks some of them and leaves the others to the dial.
func TestCheckTargetsBoundsItsLookUps(t *testing.T) {
	dns := dnstest.Start(t)
	g := newGuard(t, GuardOptions{Resolver: dns.Resolver()})
	targets := make([]json.RawMessage, 2*earlyHosts)
	for i := range targets {
		host := fmt.Sprintf("h%d.example.com", i)
		dns.Set(host, "10.0.0.5")
		targets[i] = targetOf("https://" + host + "/")
	}
	refused := 0
	for _, err := range g.CheckTargets(t.Context(), targets) {
		if err != nil {
			refused++
		}
	}
	if refused == 0 || refused > earlyHosts {
		t.Errorf("%d of %d refused; want at most %d, and some", refused, len(targets), earlyHosts)
	}
}
