package webhook

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/decide"
)

func newAdmission(perHost int) *admission {
	return &admission{
		breaker: breakerTestOptions, bounds: bounds{slots: 1000, perHost: perHost}, wait: 250 * time.Millisecond,
		now: time.Now, chance: func() float64 { return 0 }, tenants: map[string]int{}, hosts: places{}, endpoints: places{},
	}
}

// to is the route of a job without a tenant to the only endpoint of a host.
func to(host string) route { return route{host: host, scheme: "http", endpoint: host} }

// fails, succeeds and unconnected end a delivery: without a final answer, with one, or without a connection.
func fails(p *pass)       { p.leave(healthy, unhealthy) }
func succeeds(p *pass)    { p.leave(healthy, healthy) }
func unconnected(p *pass) { p.leave(unhealthy, unknown) }

// snoozed decides the error as a worker does, checks that it is a snooze, and returns its length.
func snoozed(t *testing.T, err error) time.Duration {
	t.Helper()
	end := decide.End(&core.Job{Attempts: 1, MaxAttempts: 1}, decide.Ran{Err: err}, time.Time{}, 0)
	if end.Outcome != core.EndSnooze {
		t.Fatalf("not snoozed but %d: %v", end.Outcome, err)
	}
	return end.Wait
}

func TestFullHostHoldsNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newAdmission(2)
		first, err := g.enter(t.Context(), to("a:80"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.enter(t.Context(), to("a:80")); err != nil {
			t.Fatal(err)
		}
		if _, err := g.enter(t.Context(), to("b:80")); err != nil {
			t.Errorf("another host is held too: %v", err)
		}
		start := time.Now()
		_, err = g.enter(t.Context(), to("a:80"))
		if wait := snoozed(t, err); wait != 500*time.Millisecond || time.Since(start) != 250*time.Millisecond {
			t.Errorf("snoozed for %s after %s", wait, time.Since(start))
		}
		_, err = g.enter(t.Context(), route{host: "a:80", scheme: "http", endpoint: "a:80", snoozes: 40})
		if wait := snoozed(t, err); wait != 16*time.Second {
			t.Errorf("after 40 snoozes for %s", wait)
		}

		entered := make(chan error, 3) // two may wait, the third is refused at once
		for range 3 {
			go func() {
				_, err := g.enter(t.Context(), to("a:80"))
				entered <- err
			}()
		}
		synctest.Wait()
		snoozed(t, <-entered)
		succeeds(first)
		if err := <-entered; err != nil {
			t.Errorf("no job got the free slot: %v", err)
		}
		snoozed(t, <-entered)
	})
}

func TestWaitEndsWithTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newAdmission(1)
		p, err := g.enter(t.Context(), to("a:80"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(core.ErrStopping)
		if _, err := g.enter(ctx, to("a:80")); !errors.Is(err, core.ErrStopping) {
			t.Errorf("%v", err)
		}
		succeeds(p)
		if len(g.hosts) != 0 {
			t.Errorf("remembered: %v", g.hosts)
		}
	})
}

func TestOpenBreakerSnoozesWithoutCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newAdmission(4)
		g.chance = func() float64 { return 1 }
		for range 3 {
			p, err := g.enter(t.Context(), to("a:80"))
			if err != nil {
				t.Fatal(err)
			}
			fails(p)
		}
		_, err := g.enter(t.Context(), to("a:80"))
		if wait := snoozed(t, err); wait != 15*time.Second { // the pause plus, at chance 1, half of it
			t.Errorf("snoozed for %s", wait)
		}
		if !strings.Contains(err.Error(), "a:80 is left alone after 3 failed attempts in a row") {
			t.Errorf("the cause is missing: %v", err)
		}
		time.Sleep(10 * time.Second)
		probe, err := g.enter(t.Context(), to("a:80"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.enter(t.Context(), to("a:80"))
		snoozed(t, err)
		succeeds(probe)
		if _, err := g.enter(t.Context(), to("a:80")); err != nil {
			t.Errorf("after a good probe: %v", err)
		}
	})
}

// Jobs that wait for a slot when the breaker opens are snoozed, not sent to the failing host.
func TestBreakerOpeningSendsOffThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newAdmission(1)
		g.breaker.Failures = 1
		p, err := g.enter(t.Context(), to("a:80"))
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan error, 1)
		go func() {
			_, err := g.enter(t.Context(), to("a:80"))
			entered <- err
		}()
		synctest.Wait()
		fails(p)
		if wait := snoozed(t, <-entered); wait != 10*time.Second {
			t.Errorf("snoozed for %s", wait)
		}
		if c := g.counts(); c.InFlight != 0 || c.Waiting != 0 || g.endpoints[to("a:80").endpointKey()].users != 0 {
			t.Errorf("left over: %+v", c)
		}
	})
}

// A job may wait a day for its answer: as the probe of a silent host it must not block all other jobs.
func TestSlowProbeIsFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newAdmission(10)
		for range breakerTestOptions.Failures {
			p, err := g.enter(t.Context(), to("a:80"))
			if err != nil {
				t.Fatal(err)
			}
			fails(p)
		}
		time.Sleep(breakerTestOptions.Pause)
		first, err := g.enter(t.Context(), to("a:80"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(probePatience - 1)
		_, err = g.enter(t.Context(), to("a:80"))
		snoozed(t, err)
		time.Sleep(1 * time.Nanosecond)
		second, err := g.enter(t.Context(), to("a:80"))
		if err != nil {
			t.Fatalf("an overdue probe holds back all others: %v", err)
		}
		_, err = g.enter(t.Context(), to("a:80"))
		snoozed(t, err)
		succeeds(second)
		if _, err := g.enter(t.Context(), to("a:80")); err != nil {
			t.Errorf("the host is not open after a good probe: %v", err)
		}
		fails(first)
	})
}

// A host that always fails gets Failures requests and then one per pause, no matter how many jobs wait for it. The other
// jobs use no attempt.
func TestDeadHostBurnsNoAttempts(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	w := newWebhook(t, Options{Guard: loopback(t), Breaker: BreakerOptions{Failures: 5, Pause: time.Hour}, PerHost: 5})
	var wait sync.WaitGroup
	var mu sync.Mutex
	charged := 0
	for range 100 {
		wait.Go(func() {
			_, err := w.Work(t.Context(), jobFor(r))
			end := decide.End(jobFor(r), decide.Ran{Err: err}, time.Time{}, 0)
			mu.Lock()
			defer mu.Unlock()
			if end.Outcome != core.EndSnooze {
				charged++
			}
		})
	}
	wait.Wait()
	if charged != r.hits() || charged < 5 || charged > 5+5 { // those in flight when it opened fail too
		t.Errorf("%d attempts charged, %d requests", charged, r.hits())
	}
}
