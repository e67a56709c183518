// Package storeclock tells the store's time without asking it each time.
package storeclock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// How a Clock reads its store.
const (
	clockAge     = 5 * time.Second // a reading older than this is renewed beside the caller
	clockLongest = time.Minute     // one older than this is waited for
	clockTimeout = time.Second     // of a reading; when it fails, the next one waits as long
	clockJump    = time.Second     // this process's clock was set, or it was frozen, when its two clocks differ by so much
)

// Store is a store that tells its time.
type Store interface {
	Now(ctx context.Context) (time.Time, error)
}

// Clock tells the store's time without asking it each time: from the last reading, and this process's monotonic clock. So
// what is judged by it (run_at, expires_at, the end of a token) is judged alike by all processes. It
// is exact to about the time that a reading takes. Where the store does not answer it goes on from the last reading, or by this
// process's clock. Safe for concurrent use.
type Clock struct {
	store Store
	here  func() moment
	mu    sync.Mutex // of readings
	last  atomic.Pointer[clockReading]
	busy  atomic.Bool // a reading is under way beside callers
}

// moment is a moment by the two clocks of this process.
type moment struct {
	wall time.Time
	mono time.Duration // stands still while the process is frozen
}

// clockReading is what the store's clock said at a moment of this process.
type clockReading struct {
	store  time.Time
	at     moment
	failed bool // it did not answer: store goes on from the reading before
}

// New returns the clock of store. It reads nothing before it is asked.
func New(store Store) *Clock {
	start := time.Now()
	return &Clock{store: store, here: func() moment {
		now := time.Now()
		return moment{now.Round(0), now.Sub(start)}
	}}
}

// Now is the store's time.
func (c *Clock) Now() time.Time {
	now := c.here()
	r := c.last.Load()
	switch {
	case r == nil || !r.holds(now):
		r = c.read(r)
	case r.age(now) > r.fresh() && c.busy.CompareAndSwap(false, true):
		go func() {
			defer c.busy.Store(false)
			c.read(r)
		}()
	}
	return r.store.Add(r.age(c.here()))
}

// read asks the store, once for all callers that wait. old is the reading that they had.
func (c *Clock) read(old *clockReading) *clockReading {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.last.Load(); r != old {
		return r
	}
	ctx, cancel := context.WithTimeout(context.Background(), clockTimeout)
	defer cancel()
	sent := c.here()
	said, err := c.store.Now(ctx)
	r := &clockReading{at: c.here()}
	switch r.store = said.Add((r.at.mono - sent.mono) / 2); {
	case err == nil:
	case old != nil && old.steady(r.at):
		r.store, r.failed = old.store.Add(old.age(r.at)), true
	default:
		r.store, r.failed = r.at.wall, true
	}
	c.last.Store(r)
	return r
}

func (r *clockReading) age(now moment) time.Duration { return now.mono - r.at.mono }

// fresh is the age at which a reading is renewed.
func (r *clockReading) fresh() time.Duration {
	if r.failed {
		return clockTimeout
	}
	return clockAge
}

// holds reports whether a reading can be gone on from.
func (r *clockReading) holds(now moment) bool { return r.age(now) <= clockLongest && r.steady(now) }

// steady reports whether this process's clocks went alike since the reading: neither was it frozen, nor was a clock set.
func (r *clockReading) steady(now moment) bool {
	return (now.wall.Sub(r.at.wall) - r.age(now)).Abs() < clockJump
}
