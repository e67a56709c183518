package tick

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// pacing gives a dispatcher passes of a window of 10,000 and returns the pause after the last.
func pacing(t *testing.T, gap time.Duration, befores ...int) (pause time.Duration, w *Window) {
	t.Helper()
	const size = 10_000
	window := NewWindow(size/2, 0)
	d := &dispatcher{opts: DispatchOptions{}.withDefaults(), period: time.Second}
	now := time.Unix(1000, 0)
	for _, before := range befores {
		window.Observe(now, before, size-before, true)
		gap = d.pace(gap, before, &window)
		now = now.Add(100 * time.Millisecond)
	}
	return gap, &window
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

// TestEachQueueHasItsPace: a queue whose consumers stopped does not delay the passes that another queue needs, in any order
// of the map.
func TestEachQueueHasItsPace(t *testing.T) {
	full, hungry := queuegroup.Key{Priority: core.Critical}, queuegroup.Key{Priority: core.Bulk}
	for range 50 {
		d := &dispatcher{
			opts: DispatchOptions{}.withDefaults(), period: time.Second, gaps: map[queuegroup.Key]time.Duration{full: 100 * time.Millisecond},
			windows: map[queuegroup.Key]*Window{}, spare: map[queuegroup.Key]int{}, given: map[queuegroup.Key]int{},
		}
		for _, key := range []queuegroup.Key{full, hungry} {
			window := NewWindow(10, 0)
			d.windows[key] = &window
		}
		res := core.TickResult{Now: time.Unix(1000, 0), Held: []core.Held{{Bucket: 1}}}
		res.Queued[full.Priority-1] = d.windows[full].Size()
		for _, key := range []queuegroup.Key{full, hungry} {
			res.Waiting = append(res.Waiting, core.Lane{Priority: key.Priority, Type: "a"}) // due now
		}
		if next := d.dispatch(core.TickRequest{Dispatch: true}, res); next != d.opts.MinGap || d.gaps[full] != 200*time.Millisecond {
			t.Fatalf("the next pass comes after %s, want %s; the pause of the full queue is %s", next, d.opts.MinGap, d.gaps[full])
		}
	}
}
