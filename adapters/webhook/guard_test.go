package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/dnstest"
)

// hostileURLs must be refused by their text alone. No test dials them.
func hostileURLs(t testing.TB) (urls []string) {
	text, err := os.ReadFile(filepath.Join("testdata", "hostile_urls.json"))
	if err == nil {
		err = json.Unmarshal(text, &urls)
	}
	if err != nil || len(urls) < 100 {
		t.Fatalf("%d URLs, %v", len(urls), err)
	}
	return urls
}

func TestHostileURLsAreRefusedAtEveryStage(t *testing.T) {
	w, dialled := newDialess(t, GuardOptions{Resolver: dnstest.Start(t).Resolver()})
	for _, raw := range hostileURLs(t) {
		t.Run(raw, func(t *testing.T) {
			var refused *RefusedError
			if err := w.guard.CheckURL(raw); !errors.As(err, &refused) {
				t.Errorf("CheckURL: %v", err)
			}
			if err := w.guard.CheckResolved(t.Context(), raw); !errors.As(err, &refused) {
				t.Errorf("CheckResolved: %v", err)
			}
			doc := targetOf(raw)
			var field *core.FieldError
			if err := w.guard.CheckTarget(doc); !errors.As(err, &field) || field.Field != "target.url" {
				t.Errorf("CheckTarget: %v", err)
			}
			if _, err := w.Work(t.Context(), &core.Job{ID: 1, Target: doc}); !core.IsPermanent(err) {
				t.Errorf("Work: %v", err)
			}
		})
	}
	if got := dialled(); len(got) > 0 {
		t.Errorf("dialled %v", got)
	}
}

// The dial checks last: it refuses addresses that a check of the text misses.
func TestHostileAddressesAreRefusedAtTheDial(t *testing.T) {
	w, dialled := newDialess(t, GuardOptions{})
	tried := 0
	for _, raw := range hostileURLs(t) {
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		addr, err := netip.ParseAddr(u.Hostname())
		if err != nil || addr.Unmap() == netip.MustParseAddr("8.8.8.8") {
			continue
		}
		tried++
		var refused *RefusedError
		if _, err := w.guard.dialContext(t.Context(), "tcp", net.JoinHostPort(addr.String(), "80")); !errors.As(err, &refused) {
			t.Errorf("%s: %v", addr, err)
		}
		if err := w.guard.judge(addr); !errors.As(err, &refused) {
			t.Errorf("judge %s: %v", addr, err)
		}
	}
	if tried < 40 {
		t.Errorf("only %d addresses", tried)
	}
	if got := dialled(); len(got) > 0 {
		t.Errorf("dialled %v", got)
	}
}

func TestPublicURLsPass(t *testing.T) {
	g := newGuard(t, GuardOptions{})
	for _, raw := range []string{
		"https://hooks.example.com/", "http://hooks.example.com", "HTTPS://Hooks.Example.COM:443/a?b=c#d", "https://xn--bcher-kva.example.com/",
		"https://8.8.8.8/", "https://[2606:4700:4700::1111]:8443/", "http://a_b.example.com:8080/%20/", "https://1e100.net/", "https://0x.example.com/",
		"https://127.0.0.1.nip.example.com/", "https://internal.example.com/", "https://172.32.0.1/", "https://100.128.0.1/",
	} {
		if err := g.CheckURL(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestAllowList(t *testing.T) {
	g := newGuard(t, GuardOptions{Allow: []string{"127.0.0.0/8", "10.1.2.3", "fd00:1::/32", "64:ff9b::/96", "hooks.internal", "*.corp.example", "localhost"}})
	for raw, allowed := range map[string]bool{
		"http://127.0.0.1:9999/": true, "http://10.1.2.3:1/": true, "http://10.1.2.4/": false, "http://[fd00:1::9]:3000/": true, "http://[fd00:2::9]/": false,
		"http://[64:ff9b::7f00:1]/": true, "http://hooks.internal:9000/": true, "http://Hooks.Internal/": true, "http://x.hooks.internal/": false,
		"http://a.corp.example:6379/": true, "http://a.b.corp.example/": true, "http://corp.example:6379/": false, "http://notcorp.example:6379/": false,
		"http://localhost:3000/": true, "http://localhost./": false, "http://u:p@localhost/": false, "http://localhost:70000/": false, "http://2130706433/": false,
	} {
		if err := g.CheckURL(raw); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed %t", raw, err, allowed)
		}
	}
	for _, bad := range []string{"", "10.0.0.0/33", "a b", "*.*.example", "http://x.example", "*", "::ffff:10.0.0.0/104", "host:80", "10.1.2.3/8"} {
		if _, err := NewGuard(GuardOptions{Allow: []string{bad}}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", bad)) {
			t.Errorf("allow %q: %v", bad, err)
		}
	}
	if _, err := NewGuard(GuardOptions{Ports: []int{80, 70000}}); err == nil {
		t.Error("port 70000 was taken")
	}
}

// Refusals appear in answers and error histories, so they must not contain secret parts of a URL.
func TestRefusalsTellNothing(t *testing.T) {
	g := newGuard(t, GuardOptions{})
	for _, raw := range []string{
		"http://user:canary@hooks.example.com/", "http://10.0.0.1/canary?canary#canary", "ftp://canary/canary", "http://hooks.example.com:22/?t=canary",
		"http://hooks.example.com\x7f/canary", "http://hooks.example.com:canary/",
	} {
		if err := g.CheckURL(raw); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func newGuard(t testing.TB, opts GuardOptions) *Guard {
	t.Helper()
	g, err := NewGuard(opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// newDialess returns a Webhook that records the addresses to connect to, and never connects.
func newDialess(t testing.TB, opts GuardOptions) (w *Webhook, dialled func() []string) {
	t.Helper()
	g := newGuard(t, opts)
	seen := make(chan string, 100)
	g.connect = func(_ context.Context, _, address string, _ bool) (net.Conn, error) {
		seen <- address
		return nil, errors.New("no connections in this test")
	}
	return newWebhook(t, Options{Guard: g}), func() (all []string) {
		for {
			select {
			case address := <-seen:
				all = append(all, address)
			default:
				return all
			}
		}
	}
}
