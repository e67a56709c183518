package tick_test

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/tick"
)

// consumer empties a window: an endless backlog fills it in every pass, and perPass jobs start between two passes.
type consumer struct {
	now       time.Time
	queued    int
	maxQueued int
}

func (c *consumer) drive(w *tick.Window, passes int, gap time.Duration, perPass int) {
	for range passes {
		credit := w.Credit(gap)
		c.queued = max(0, c.queued-perPass)
		c.now = c.now.Add(gap)
		w.Observe(c.now, c.queued, credit, true)
		c.queued += credit
		c.maxQueued = max(c.maxQueued, c.queued)
	}
}

func TestWindowFloorIsADeclaredConcurrencyTwiceOrAHundred(t *testing.T) {
	for _, c := range []struct{ concurrency, ceiling, want int }{
		{0, 0, 100}, {10, 0, 100}, {50, 0, 100}, {51, 0, 102}, {2000, 0, 4000}, {9000, 0, tick.WindowCeiling}, {2000, 500, 500}, {0, 7, 7},
	} {
		w := tick.NewWindow(c.concurrency, c.ceiling)
		if got := w.Size(); got != c.want {
			t.Errorf("NewWindow(%d, %d).Size() = %d, want %d", c.concurrency, c.ceiling, got, c.want)
		}
	}
}

func TestWindowGivesNoCreditBeforeItKnowsWhatIsQueued(t *testing.T) {
	w := tick.NewWindow(0, 0)
	if got := w.Credit(time.Hour); got != 0 {
		t.Errorf("credit before the first pass = %d, want 0", got)
	}
	w.Observe(time.Unix(1000, 0), 70, 0, true)
	if got := w.Credit(0); got != 30 {
		t.Errorf("credit with 70 of 100 queued = %d, want 30", got)
	}
}

func TestWindowDoublesWhileItEmptiesUpToTheCeiling(t *testing.T) {
	w := tick.NewWindow(0, 0)
	now := time.Unix(1000, 0)
	w.Observe(now, 0, 0, true)
	for want := 100; want < tick.WindowCeiling; want *= 2 {
		if got := w.Size(); got != want {
			t.Fatalf("the window is %d, want %d", got, want)
		}
		now = now.Add(10 * time.Millisecond)
		w.Observe(now, 0, w.Credit(0), true) // fills it
		now = now.Add(10 * time.Millisecond)
		w.Observe(now, 0, w.Credit(0), true) // finds it empty
	}
	if got := w.Size(); got != tick.WindowCeiling {
		t.Errorf("the window ends at %d, want the ceiling %d", got, tick.WindowCeiling)
	}
	now = now.Add(time.Minute)
	w.Observe(now, 0, 0, false)
	if got := w.Size(); got != tick.WindowCeiling/2 {
		t.Errorf("a span without emptying leaves %d, want half the ceiling", got)
	}
}

func TestWindowOfConsumersThatStandStillStaysAtItsFloor(t *testing.T) {
	w, c := tick.NewWindow(0, 0), consumer{now: time.Unix(1000, 0)}
	c.drive(&w, 600, time.Second, 0)
	if c.maxQueued != tick.WindowFloor || w.Size() != tick.WindowFloor {
		t.Errorf("after 600 passes %d are queued in a window of %d, want %d", c.maxQueued, w.Size(), tick.WindowFloor)
	}
}

func TestWindowFollowsTheStartsOfTenSeconds(t *testing.T) {
	w, c := tick.NewWindow(0, 0), consumer{now: time.Unix(1000, 0)}
	c.drive(&w, 60, time.Second, 300)
	if got := w.Size(); got < 2700 || got > 3300 {
		t.Errorf("at 300 starts a second the window is %d, want 3,000: 10 s of them", got)
	}
	size := w.Size()
	c.drive(&w, 60, time.Second, 0) // the consumers stop
	if got := w.Size(); got != tick.WindowFloor {
		t.Errorf("a minute after the consumers stopped the window is %d, want its floor", got)
	}
	if c.maxQueued > size*3/2 {
		t.Errorf("%d were queued at once in a window of %d, want one and a half at most", c.maxQueued, size)
	}
}

func TestWindowCountsOnStartsSinceTheLastPassForHalfOfTheQueuedAtMost(t *testing.T) {
	w := tick.NewWindow(500, 0)
	now := time.Unix(1000, 0)
	w.Observe(now, 0, 0, true)
	w.Observe(now.Add(time.Second), 0, 1000, true)
	w.Observe(now.Add(2*time.Second), 500, 500, true) // 500 starts a second
	for _, c := range []struct {
		elapsed time.Duration
		want    int
	}{{0, 0}, {100 * time.Millisecond, 50}, {time.Second, 500}, {time.Hour, 500}} {
		if got := w.Credit(c.elapsed); got != c.want {
			t.Errorf("Credit(%s) = %d, want %d", c.elapsed, got, c.want)
		}
	}
	if got := w.HalfIn(); got != time.Second {
		t.Errorf("half of 1,000 queued at 500 starts a second: in %s, want 1 s", got)
	}
}
