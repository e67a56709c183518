package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func newGates(perHost int) *gates {
	return &gates{
		breaker: breakerTestOptions, perHost: perHost, wait: 250 * time.Millisecond,
		now: time.Now, chance: func() float64 { return 0 }, hosts: map[string]*gate{},
	}
}

// snoozed decides the error as a worker does and returns for how long the job is put back, which must be as a snooze.
func snoozed(t *testing.T, err error) time.Duration {
	t.Helper()
	end := core.DecideEnd(&core.Job{Attempts: 1, MaxAttempts: 1}, core.Ran{Err: err}, time.Time{}, 0)
	if end.Outcome != core.EndSnooze {
		t.Fatalf("not snoozed but %d: %v", end.Outcome, err)
	}
	return end.Wait
}

func TestFullHostHoldsNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGates(2)
		first, err := g.enter(t.Context(), "a:80", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.enter(t.Context(), "a:80", 0); err != nil {
			t.Fatal(err)
		}
		if _, err := g.enter(t.Context(), "b:80", 0); err != nil {
			t.Errorf("another host is held too: %v", err)
		}
		start := time.Now()
		_, err = g.enter(t.Context(), "a:80", 0)
		if wait := snoozed(t, err); wait != 500*time.Millisecond || time.Since(start) != 250*time.Millisecond {
			t.Errorf("snoozed for %s after %s", wait, time.Since(start))
		}
		_, err = g.enter(t.Context(), "a:80", 40)
		if wait := snoozed(t, err); wait != 16*time.Second {
			t.Errorf("after 40 snoozes for %s", wait)
		}

		entered := make(chan error, 3) // two may wait, the third is sent off at once
		for range 3 {
			go func() {
				_, err := g.enter(t.Context(), "a:80", 0)
				entered <- err
			}()
		}
		synctest.Wait()
		snoozed(t, <-entered)
		first.leave(healthy)
		if err := <-entered; err != nil {
			t.Errorf("the place that came free went to nobody: %v", err)
		}
		snoozed(t, <-entered)
	})
}

func TestWaitEndsWithTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGates(1)
		p, err := g.enter(t.Context(), "a:80", 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(core.ErrStopping)
		if _, err := g.enter(ctx, "a:80", 0); !errors.Is(err, core.ErrStopping) {
			t.Errorf("%v", err)
		}
		p.leave(healthy)
		if len(g.hosts) != 0 {
			t.Errorf("remembered: %v", g.hosts)
		}
	})
}

func TestOpenBreakerSnoozesWithoutCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGates(4)
		g.chance = func() float64 { return 1 }
		for range 3 {
			p, err := g.enter(t.Context(), "a:80", 0)
			if err != nil {
				t.Fatal(err)
			}
			p.leave(unhealthy)
		}
		_, err := g.enter(t.Context(), "a:80", 0)
		if wait := snoozed(t, err); wait != 15*time.Second { // the pause and, at chance 1, half of it
			t.Errorf("snoozed for %s", wait)
		}
		if !strings.Contains(err.Error(), "a:80 is left alone after 3 failed attempts in a row") {
			t.Errorf("the cause is not told: %v", err)
		}
		time.Sleep(10 * time.Second)
		probe, err := g.enter(t.Context(), "a:80", 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.enter(t.Context(), "a:80", 0)
		snoozed(t, err)
		probe.leave(healthy)
		if _, err := g.enter(t.Context(), "a:80", 0); err != nil {
			t.Errorf("after a good probe: %v", err)
		}
	})
}

// Jobs that wait for a place when the breaker opens are snoozed and not sent into the failing host.
func TestBreakerOpeningSendsOffThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGates(1)
		g.breaker.Failures = 1
		p, err := g.enter(t.Context(), "a:80", 0)
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan error, 1)
		go func() {
			_, err := g.enter(t.Context(), "a:80", 0)
			entered <- err
		}()
		synctest.Wait()
		p.leave(unhealthy)
		if wait := snoozed(t, <-entered); wait != 10*time.Second {
			t.Errorf("snoozed for %s", wait)
		}
		if g.hosts["a:80"].users != 0 || len(g.hosts["a:80"].slots) != 0 {
			t.Errorf("left over: %+v", g.hosts["a:80"])
		}
	})
}

// A job may have a day for its answer: as a probe of a host that says nothing it must not keep all others waiting.
func TestSlowProbeIsFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGates(10)
		for range breakerTestOptions.Failures {
			p, err := g.enter(t.Context(), "a:80", 0)
			if err != nil {
				t.Fatal(err)
			}
			p.leave(unhealthy)
		}
		time.Sleep(breakerTestOptions.Pause)
		first, err := g.enter(t.Context(), "a:80", 0)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(probePatience - 1)
		_, err = g.enter(t.Context(), "a:80", 0)
		snoozed(t, err)
		time.Sleep(1 * time.Nanosecond)
		second, err := g.enter(t.Context(), "a:80", 0)
		if err != nil {
			t.Fatalf("an overdue probe holds back all others: %v", err)
		}
		_, err = g.enter(t.Context(), "a:80", 0)
		snoozed(t, err)
		second.leave(healthy)
		if _, err := g.enter(t.Context(), "a:80", 0); err != nil {
			t.Errorf("the host is not open after a good probe: %v", err)
		}
		first.leave(unhealthy)
	})
}

func TestMemoryOfFailingHostsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGates(1)
		most := 0
		for i := range 20 * sweepFrom {
			p, err := g.enter(t.Context(), fmt.Sprintf("h%d:80", i), 0)
			if err != nil {
				t.Fatal(err)
			}
			p.leave(unhealthy)
			time.Sleep(time.Second)
			most = max(most, len(g.hosts))
		}
		if most > 2*sweepFrom {
			t.Errorf("%d hosts remembered", most)
		}
	})
}

// A host that fails every time is asked Failures times and then once a pause, however many jobs there are for it,
// and none of the others is charged an attempt.
func TestDeadHostBurnsNoAttempts(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	w := newWebhook(t, Options{Guard: loopback(t), Breaker: BreakerOptions{Failures: 5, Pause: time.Hour}, PerHost: 5})
	var wait sync.WaitGroup
	var mu sync.Mutex
	charged := 0
	for range 100 {
		wait.Go(func() {
			_, err := w.Work(t.Context(), jobFor(r))
			end := core.DecideEnd(jobFor(r), core.Ran{Err: err}, time.Time{}, 0)
			mu.Lock()
			defer mu.Unlock()
			if end.Outcome != core.EndSnooze {
				charged++
			}
		})
	}
	wait.Wait()
	if charged != r.hits() || charged < 5 || charged > 5+5 { // those in flight when it opened end too
		t.Errorf("%d attempts charged, %d requests", charged, r.hits())
	}
}
