package sqlite

import (
	"sync"
	"sync/atomic"
	"time"
)

// clock is the store's time in microseconds. It never goes backwards within a process: where the machine's
// clock is set back, time goes on at half speed until the machine's clock has caught up, so that leases
// still run out and jobs still become due.
type clock struct {
	process func() time.Time
	offset  *atomic.Int64

	mu   sync.Mutex
	last int64     // the latest time given out
	seen time.Time // the process's time then, with its monotonic reading
}

func newClock(process func() time.Time, offset *atomic.Int64) *clock {
	return &clock{process: process, offset: offset}
}

func (c *clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.process()
	now := seen.UnixMicro() + c.offset.Load()
	if now < c.last {
		elapsed := seen.Sub(c.seen).Microseconds()
		if elapsed < 0 {
			c.seen = seen // without a monotonic reading: count from here
		}
		if elapsed < 2 {
			return c.last
		}
		now = max(now, c.last+elapsed/2)
	}
	c.last, c.seen = now, seen
	return now
}

// micros is a time as the store keeps it.
func micros(t time.Time) int64 { return t.UnixMicro() }

// instant is the inverse of micros.
func instant(us int64) time.Time { return time.UnixMicro(us).UTC() }

// duration is a stored duration.
func duration(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
