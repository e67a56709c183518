package webhook

import (
	"math/rand/v2"
	"testing"
	"time"
)

var breakerTestOptions = BreakerOptions{Failures: 3, Pause: 10 * time.Second, MaxPause: 60 * time.Second}

func TestBreakerOpensProbesAndCloses(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var b breaker
	fail := func(probe bool) { b.end(unhealthy, probe, 1, now, breakerTestOptions) }
	expect := func(step string, wantProbe, wantOK bool, wantWait time.Duration) {
		t.Helper()
		if probe, ok, wait := b.admit(1, now); probe != wantProbe || ok != wantOK || wait != wantWait {
			t.Fatalf("%s: probe %t, ok %t, wait %s; want %t, %t, %s", step, probe, ok, wait, wantProbe, wantOK, wantWait)
		}
	}
	fail(false)
	fail(false)
	expect("two failures", false, true, 0)
	b.end(healthy, false, 1, now, breakerTestOptions)
	fail(false)
	fail(false)
	expect("two more after a success", false, true, 0)
	fail(false)
	expect("the third in a row opens it", false, false, 10*time.Second)
	fail(false)
	expect("stragglers do not lengthen the pause", false, false, 10*time.Second)

	for _, pause := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 60 * time.Second, 60 * time.Second} {
		now = now.Add(pause - 1)
		expect("just before the pause is over", false, false, 1)
		now = now.Add(1)
		expect("the pause is over", true, true, 0)
		b.probing = true
		expect("one probe at a time", false, false, pause/4)
		fail(true)
	}
	now = now.Add(60 * time.Second)
	b.probing = true
	b.end(unknown, true, 1, now, breakerTestOptions)
	expect("a probe that showed nothing is tried again", true, true, 0)
	b.probing = true
	b.end(healthy, true, 1, now, breakerTestOptions)
	expect("a good probe closes it", false, true, 0)
	if b != (breaker{}) {
		t.Errorf("left over: %+v", b)
	}
}

func TestBreakerIsForgottenWhenStale(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var b breaker
	if !b.forgettable(now, breakerTestOptions) {
		t.Error("a clean one is kept")
	}
	for n := range 4 {
		b.end(unhealthy, false, 1, now, breakerTestOptions)
		if b.forgettable(now.Add(60*time.Second), breakerTestOptions) {
			t.Errorf("after %d failures it is forgotten too early", n+1)
		}
		if !b.forgettable(now.Add(80*time.Second), breakerTestOptions) {
			t.Errorf("after %d failures it is kept too long", n+1)
		}
	}
}

// In any order of events: there are never two probes at once, no pause exceeds the maximum, a host whose last result was
// good accepts all jobs, and a host that only fails gets one request per pause.
func TestBreakerHoldsItsPromises(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		now := time.Unix(1_000_000, 0)
		var b breaker
		var flying []bool // whether each is a probe
		for range 300 {
			now = now.Add(time.Duration(random.Int64N(int64(20 * time.Second))))
			if probe, ok, wait := b.admit(1, now); ok {
				if probe {
					b.probing = true
				}
				flying = append(flying, probe)
			} else if wait <= 0 || wait > breakerTestOptions.MaxPause {
				t.Fatalf("seed %d: must wait %s", seed, wait)
			}
			probes := 0
			for _, probe := range flying {
				if probe {
					probes++
				}
			}
			if probes > 1 {
				t.Fatalf("seed %d: %d probes at once", seed, probes)
			}
			if len(flying) > 0 && random.IntN(2) == 0 {
				i := random.IntN(len(flying))
				v := verdict(random.IntN(3))
				b.end(v, flying[i], 1, now, breakerTestOptions)
				flying = append(flying[:i], flying[i+1:]...)
				if _, ok, _ := b.admit(1, now); v == healthy && !ok {
					t.Fatalf("seed %d: closed to others after a success", seed)
				}
			}
		}
	}
}
