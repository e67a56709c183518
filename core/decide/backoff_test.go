package decide

import (
	"math"
	"testing"
	"testing/quick"
	"time"
)

func TestBackoffSteps(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		math.MinInt: 30 * time.Second, 0: 30 * time.Second, 1: 30 * time.Second, 2: 2 * time.Minute, 3: 10 * time.Minute,
		4: time.Hour, 5: 6 * time.Hour, 6: 6 * time.Hour, 39: 6 * time.Hour, math.MaxInt: 6 * time.Hour,
	} {
		if got := Backoff(nil, attempt, 0.5); got != want {
			t.Errorf("attempt %d: %s, want %s", attempt, got, want)
		}
	}
	own := []time.Duration{time.Second}
	if low, high := Backoff(own, 7, 0), Backoff(own, 7, 1); low != 900*time.Millisecond || high != 1100*time.Millisecond {
		t.Errorf("jitter spans %s to %s, want 900ms to 1.1s", low, high)
	}
}

// TestBackoffBounds: the wait lies in [0, MaxWait] for every attempt, wait and chance. Without jitter, rising waits never
// make a later attempt wait less.
func TestBackoffBounds(t *testing.T) {
	bounded := func(waits []time.Duration, attempt int, chance float64) bool {
		d := Backoff(waits, attempt, chance)
		return d >= 0 && d <= MaxWait
	}
	if err := quick.Check(bounded, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
	huge := []time.Duration{time.Second, math.MaxInt64, math.MaxInt64}
	for _, chance := range []float64{math.Inf(-1), -1, 0, 0.5, 1, 2, math.Inf(1)} {
		if !bounded(huge, 2, chance) {
			t.Errorf("chance %v: %s", chance, Backoff(huge, 2, chance))
		}
	}
	for _, waits := range [][]time.Duration{nil, huge, {time.Millisecond, time.Hour, 400 * 24 * time.Hour}} {
		last := time.Duration(0)
		for attempt := range 200 {
			d := Backoff(waits, attempt, 0.5)
			if d < last {
				t.Errorf("%v: attempt %d waits %s after %s", waits, attempt, d, last)
			}
			last = d
		}
	}
}
