package sqlite

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestClockNeverGoesBack(t *testing.T) {
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newClock(func() time.Time { return wall }, new(atomic.Int64))
	start := c.now()
	wall = wall.Add(-time.Hour)
	if back := c.now(); back != start {
		t.Errorf("the clock went from %d to %d when the machine's was set back", start, back)
	}
	wall = wall.Add(10 * time.Second)
	if on := c.now() - start; on != (5 * time.Second).Microseconds() {
		t.Errorf("in 10 s after that it went on by %d µs, want half", on)
	}
	wall = wall.Add(2 * time.Hour)
	if got := c.now(); got != wall.UnixMicro() {
		t.Errorf("caught up it is %d, want %d", got, wall.UnixMicro())
	}
}

func TestClockFollowsTheOffset(t *testing.T) {
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	offset := new(atomic.Int64)
	c := newClock(func() time.Time { return wall }, offset)
	before := c.now()
	offset.Store((36 * time.Hour).Microseconds())
	if d := c.now() - before; d != (36 * time.Hour).Microseconds() {
		t.Errorf("the clock moved by %d µs", d)
	}
	offset.Store(0)
	if c.now() < before+(36*time.Hour).Microseconds() {
		t.Error("a smaller offset turned the clock back")
	}
}
