package core

import (
	"testing"
	"testing/synctest"
	"time"
)

// pacing feeds a dispatcher passes of a window of 10,000 and returns the pause after the last.
func pacing(t *testing.T, gap time.Duration, befores ...int) (pause time.Duration, w *Window) {
	t.Helper()
	const size = 10_000
	window := NewWindow(size/2, 0)
	d := &dispatcher{opts: DispatchOptions{}.withDefaults(), period: time.Second, gap: gap}
	now := time.Unix(1000, 0)
	for _, before := range befores {
		window.Observe(now, before, size-before, true)
		d.pace(before, &window)
		now = now.Add(100 * time.Millisecond)
	}
	return d.gap, &window
}

func TestPaceFollowsConsumers(t *testing.T) {
	pause, w := pacing(t, 5*time.Millisecond, 10_000, 6_000, 6_000, 6_000)
	started := int(w.rate() * pause.Seconds())
	if started < 2_000 || started > 3_000 {
		t.Errorf("the next pass comes after %s, when %d of 10,000 are started: want about a quarter", pause, started)
	}
	if slow, _ := pacing(t, 5*time.Millisecond, 10_000, 9_990, 9_990); slow != time.Second {
		t.Errorf("consumers start 100 jobs a second: the next pass comes after %s, want a period", slow)
	}
}

func TestPaceWhereConsumersAreHungry(t *testing.T) {
	if pause, _ := pacing(t, time.Second, 10_000, 6_000, 100); pause != 5*time.Millisecond {
		t.Errorf("the queue was nearly empty: the next pass comes after %s", pause)
	}
}

func TestPaceWhereConsumersStandStill(t *testing.T) {
	if pause, _ := pacing(t, 100*time.Millisecond, 10_000, 10_000); pause != 400*time.Millisecond {
		t.Errorf("nothing was started: the pause went from 100 ms to %s, want it to double twice", pause)
	}
	if pause, _ := pacing(t, time.Second, 10_000, 10_000); pause != time.Second {
		t.Errorf("the pause grew to %s, beyond a period", pause)
	}
}

// Where slots come free all the time, messages are received for many of them at once.
func TestBoundGathersSlots(t *testing.T) {
	for name, c := range map[string]struct {
		slots, taken int
		freed        time.Duration // since when a slot came free
		want         int
	}{
		"many taken, coming free": {1000, 900, 0, 1000},
		"few taken":               {1000, 400, 0, 600},
		"few slots":               {50, 40, 0, 10},
		"standing still":          {1000, 900, time.Second / 2, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &Worker{opts: WorkerOptions{Slots: c.slots}}
				w.gate.init()
				w.running[Default] = c.taken
				w.freedAt = time.Now().Add(-c.freed)
				time.AfterFunc(2*gatherTurn-1, func() {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.running[Default] = 0
				})
				if got := w.bound(t.Context(), Default); got != c.want {
					t.Errorf("bound answers %d, want %d", got, c.want)
				}
				time.Sleep(2 * gatherTurn)
			})
		})
	}
}
