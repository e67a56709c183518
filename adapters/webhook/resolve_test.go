package webhook

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/dnstest"
)

// A name with a refused address is refused, wherever the address is in the list.
func TestHostileResolutionsAreRefused(t *testing.T) {
	dns := dnstest.Start(t)
	w, dialled := newDialess(t, GuardOptions{Resolver: dns.Resolver()})
	const public, public6 = "93.184.216.34", "2606:4700:4700::1111"
	for i, addresses := range [][]string{
		{"127.0.0.1"}, {"10.0.0.5"}, {"169.254.169.254"}, {"100.64.0.1"}, {"0.0.0.0"}, {"168.63.129.16"}, {"192.168.0.1"}, {"::1"}, {"fd00::1"}, {"fe80::1"},
		{"::ffff:127.0.0.1"}, {"::ffff:10.0.0.1"}, {"::7f00:1"}, {"64:ff9b::7f00:1"}, {"64:ff9b:1::a00:1"}, {"2002:7f00:1::"}, {"2001:0:1::1"}, {"2606:4700::5efe:a00:1"},
		{public, "10.0.0.5"}, {"10.0.0.5", public}, {public, "::1"}, {public, public6, "169.254.169.254"}, {public6, "127.0.0.1"},
	} {
		name := "h" + strconv.Itoa(i) + ".example.com"
		dns.Set(name, addresses...)
		raw := "http://" + name + "/"
		if err := w.guard.CheckURL(raw); err != nil {
			t.Errorf("%v: refused by its text: %v", addresses, err)
		}
		var refused *RefusedError
		if err := w.guard.CheckResolved(t.Context(), raw); !errors.As(err, &refused) {
			t.Errorf("%v: CheckResolved: %v", addresses, err)
		}
		_, err := w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf(raw)})
		if err == nil || core.IsPermanent(err) || !strings.Contains(err.Error(), "resolves to an address that is not public") {
			t.Errorf("%v: Work: %v", addresses, err)
		}
	}
	if got := dialled(); len(got) > 0 {
		t.Errorf("dialled %v", got)
	}
}

// If all addresses of a name are public, each is tried until one connects.
func TestEveryPublicAddressIsTried(t *testing.T) {
	dns := dnstest.Start(t)
	w, dialled := newDialess(t, GuardOptions{Resolver: dns.Resolver()})
	dns.Set("two.example.com", "93.184.216.34", "93.184.216.35")
	if _, err := w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf("https://two.example.com/")}); err == nil {
		t.Fatal("no error")
	}
	got := dialled()
	slices.Sort(got)
	if want := []string{"93.184.216.34:443", "93.184.216.35:443"}; !slices.Equal(got, want) {
		t.Errorf("dialled %v, want %v", got, want)
	}
}

// The name is public when the job is created and private when it is delivered. The dial refuses it, and the server that
// listens there gets no connection.
func TestRebindingIsRefusedAtTheDial(t *testing.T) {
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	dns := dnstest.Start(t)
	dns.Set("rebind.example.com", "93.184.216.34")
	g := newGuard(t, GuardOptions{Resolver: dns.Resolver(), Ports: []int{server.port(t)}})
	w := newWebhook(t, Options{Guard: g})
	raw := "http://rebind.example.com:" + strconv.Itoa(server.port(t)) + "/"
	if err := g.CheckResolved(t.Context(), raw); err != nil {
		t.Fatalf("at create: %v", err)
	}
	dns.Set("rebind.example.com", "127.0.0.1")
	_, err := w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf(raw)})
	if err == nil || core.IsPermanent(err) || !strings.HasSuffix(err.Error(), ": the host resolves to an address that is not public") {
		t.Errorf("at delivery: %v", err)
	}
	if n := server.hits(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}

	// The socket's own check works even if the check after the look-up is bypassed.
	conn, err := g.connect(t.Context(), "tcp", server.address(), false)
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Errorf("the socket connected: %v, %v", conn, err)
	}

	// The same name is reached if it is on the allow-list, so the test would notice a delivery.
	g = newGuard(t, GuardOptions{Resolver: dns.Resolver(), Allow: []string{"rebind.example.com"}})
	w = newWebhook(t, Options{Guard: g})
	if _, err := w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf(raw)}); err != nil || server.hits() != 1 {
		t.Errorf("allowed: %v, %d hits", err, server.hits())
	}
}

// An unknown name and a silent resolver are errors, not refusals. The error does not name the resolvers of this network.
func TestUnknownNames(t *testing.T) {
	dns := dnstest.Start(t)
	w, _ := newDialess(t, GuardOptions{Resolver: dns.Resolver()})
	raw := "http://nobody.example.com/"
	if err := w.guard.CheckResolved(t.Context(), raw); err != nil {
		t.Errorf("CheckResolved: %v", err)
	}
	_, err := w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf(raw)})
	if want := "target nobody.example.com:80: the host's name is not known"; err == nil || err.Error() != want {
		t.Errorf("Work: %v, want %s", err, want)
	}
}
