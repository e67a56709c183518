// Package storeclock estimates the store's time without a call for each reading.
package storeclock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// How a Clock reads its store.
const (
	clockAge     = 5 * time.Second // an older reading is renewed in the background
	clockLongest = time.Minute     // callers wait for a new reading if the last one is older
	clockTimeout = time.Second     // of one reading; after a failure the next one is tried this much later
	clockJump    = time.Second     // if this process's two clocks drift apart by this much, one was set or the process was frozen
)

// Store is a store that returns its time.
type Store interface {
	Now(ctx context.Context) (time.Time, error)
}

// Clock computes the store's time from the last reading and this process's monotonic clock. So all processes judge run_at,
// expires_at and the end of a token by the same time. The error is about the duration of one reading. If the store does not
// answer, the clock continues from the last reading, or uses this process's clock if there is none. It is safe for
// concurrent use.
type Clock struct {
	store  Store
	clocks func() moment
	mu     sync.Mutex // of readings
	last   atomic.Pointer[clockReading]
	busy   atomic.Bool // a background reading is running
}

// moment is one moment on the two clocks of this process.
type moment struct {
	wall time.Time
	mono time.Duration // stops while the process is frozen
}

// clockReading is the store's time at one moment of this process.
type clockReading struct {
	store  time.Time
	at     moment
	failed bool // the store did not answer: store is computed from the reading before
}

// New returns the clock of store. The first call of Now reads it.
func New(store Store) *Clock {
	start := time.Now()
	return &Clock{store: store, clocks: func() moment {
		now := time.Now()
		return moment{now.Round(0), now.Sub(start)}
	}}
}

// Now returns the store's time.
func (c *Clock) Now() time.Time {
	now := c.clocks()
	r := c.last.Load()
	switch {
	case r == nil || !r.usable(now):
		r = c.read(r)
	case r.age(now) > r.maxAge() && c.busy.CompareAndSwap(false, true):
		go func() {
			defer c.busy.Store(false)
			c.read(r)
		}()
	}
	return r.store.Add(r.age(c.clocks()))
}

// read reads the store's time once for all callers that wait. old is the reading that they had.
func (c *Clock) read(old *clockReading) *clockReading {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.last.Load(); r != old {
		return r
	}
	ctx, cancel := context.WithTimeout(context.Background(), clockTimeout)
	defer cancel()
	sent := c.clocks()
	said, err := c.store.Now(ctx)
	r := &clockReading{at: c.clocks()}
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

// maxAge returns the age at which a reading is renewed.
func (r *clockReading) maxAge() time.Duration {
	if r.failed {
		return clockTimeout
	}
	return clockAge
}

// usable reports whether the time can still be computed from this reading.
func (r *clockReading) usable(now moment) bool { return r.age(now) <= clockLongest && r.steady(now) }

// steady reports whether this process's two clocks advanced equally since the reading: it was not frozen, and no clock was
// set.
func (r *clockReading) steady(now moment) bool {
	return (now.wall.Sub(r.at.wall) - r.age(now)).Abs() < clockJump
}
