package webhook

import (
	"fmt"
	"testing"
	"time"
)

// Parties of a host that do not answer leave slots for others: a URL for URLs with another query, those for other paths, and
// a tenant for other tenants. An ended delivery frees its slots completely.
func TestSilentPartsOfAHostLeaveRoom(t *testing.T) {
	const host = "https://h.example"
	for name, c := range map[string]struct {
		silent func(i int64) string
		good   []string // URLs of the same tenant that still get deliveries
		takes  int      // of 50
	}{
		"one URL":           {func(int64) string { return host + "/in?shop=1" }, []string{"/in?shop=2", "/in", "/good"}, 30},
		"a query each time": {func(i int64) string { return fmt.Sprint(host, "/bad?n=", i) }, []string{"/good", "/good?n=1"}, 40},
		"a path each time":  {func(i int64) string { return fmt.Sprint(host, "/bad/", i) }, nil, 45},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWebhook(t, Options{PerHost: 50, PerWait: time.Nanosecond})
			var taken []*pass
			for i := range int64(60) {
				if p, err := w.admission.enter(t.Context(), routeTo(t, w, i, "silent", "hook", c.silent(i))); err == nil {
					taken = append(taken, p)
				}
			}
			if len(taken) != c.takes {
				t.Errorf("silent deliveries take %d of 50 slots, want %d", len(taken), c.takes)
			}
			for _, path := range c.good {
				p, err := w.admission.enter(t.Context(), routeTo(t, w, 100, "silent", "hook", host+path))
				if err != nil {
					t.Errorf("%s of the same tenant: %v", path, err)
					continue
				}
				succeeds(p)
			}
			for _, tenant := range []string{"other", ""} {
				p, err := w.admission.enter(t.Context(), routeTo(t, w, 101, tenant, "hook", c.silent(1)))
				if err != nil {
					t.Errorf("tenant %q: %v", tenant, err)
					continue
				}
				succeeds(p)
			}
			for _, p := range taken {
				succeeds(p)
			}
			if len(w.admission.hosts)+len(w.admission.endpoints)+len(w.admission.tenants) > 0 {
				t.Errorf("left over: %+v %+v", w.admission.hosts, w.admission.endpoints)
			}
			p, err := w.admission.enter(t.Context(), routeTo(t, w, 102, "silent", "hook", c.silent(1)))
			if err != nil || len(p.host.parties) != 2 {
				t.Fatalf("afterwards: %v", err)
			}
			if succeeds(p); len(p.host.parties) != 0 {
				t.Errorf("counted for ever: %v", p.host.parties)
			}
		})
	}
}

// TestSilentURLsLeaveRoomForAGoodOne: URLs of a host that never answer, each with more jobs than slots, do not fill the
// host.
func TestSilentURLsLeaveRoomForAGoodOne(t *testing.T) {
	for perHost, silent := range map[int]int{50: 5, 20: 4, 10: 2, 8: 2, 6: 2, 5: 1} {
		w := newWebhook(t, Options{PerHost: perHost, PerWait: time.Nanosecond})
		for url := range silent {
			for i := range int64(2 * perHost) {
				_, _ = w.admission.enter(t.Context(), routeTo(t, w, i, "", "hook", fmt.Sprint("https://h.example/silent/", url)))
			}
		}
		if _, err := w.admission.enter(t.Context(), routeTo(t, w, 1, "", "hook", "https://h.example/good")); err != nil {
			t.Errorf("of %d slots %d silent URLs leave none: %v", perHost, silent, err)
		}
	}
}

// TestSilentTenantsLeaveRoom: the same for tenants and all slots for deliveries.
func TestSilentTenantsLeaveRoom(t *testing.T) {
	for slots, silent := range map[int]int{900: 5, 100: 3, 20: 2} {
		w := newWebhook(t, Options{Slots: slots, PerHost: 10_000, PerWait: time.Nanosecond})
		for tenant := range silent {
			for i := range int64(2 * slots) {
				_, _ = w.admission.enter(t.Context(), routeTo(t, w, i, fmt.Sprint("silent", tenant), "hook", fmt.Sprint("https://h", i, ".example/")))
			}
		}
		if _, err := w.admission.enter(t.Context(), routeTo(t, w, 1, "good", "hook", "https://good.example/")); err != nil {
			t.Errorf("of %d slots %d silent tenants leave none: %v", slots, silent, err)
		}
	}
}
