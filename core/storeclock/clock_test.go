package storeclock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// aheadClock is a store whose clock is ahead of this process's.
type aheadClock struct {
	ahead time.Duration
	reads atomic.Int64
	err   error
}

func (c *aheadClock) Now(context.Context) (time.Time, error) {
	c.reads.Add(1)
	return time.Now().Add(c.ahead).Round(0), c.err
}

// TestStoreClock: the clock reads the store once for all callers, and then every few seconds. If the store does not answer,
// it continues from the last reading.
func TestStoreClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &aheadClock{ahead: 3 * time.Hour}
		c := New(store)
		for range 20 {
			go c.Now()
		}
		synctest.Wait()
		is := func(ahead time.Duration) {
			t.Helper()
			if got := time.Until(c.Now()); (got - ahead).Abs() > time.Millisecond {
				t.Errorf("%s ahead, want %s", got, ahead)
			}
		}
		if is(3 * time.Hour); store.reads.Load() != 1 {
			t.Errorf("%d readings for 21 callers", store.reads.Load())
		}
		store.ahead = -time.Hour // the store's clock was set back
		time.Sleep(clockAge + time.Millisecond)
		is(3 * time.Hour) // no caller waits for the reading
		synctest.Wait()
		is(-time.Hour)
		store.ahead = 0
		time.Sleep(2 * clockLongest)
		is(0) // now callers wait
		store.ahead, store.err = 5*time.Hour, errors.New("down")
		time.Sleep(2 * clockLongest)
		is(0)
		before := store.reads.Load()
		for range 100 {
			is(0)
		}
		if n := store.reads.Load() - before; n != 0 {
			t.Errorf("%d readings of a store that is down at one moment", n)
		}
		store.err = nil
		time.Sleep(clockTimeout + time.Millisecond)
		c.Now()
		synctest.Wait()
		is(5 * time.Hour)
	})
}

// TestStoreClockAfterAJump: a process that was frozen, or whose clock was set, reads the store before it returns a time.
func TestStoreClockAfterAJump(t *testing.T) {
	for name, by := range map[string]time.Duration{"frozen": time.Minute, "set back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			store := &aheadClock{}
			c := New(store)
			now := moment{wall: time.Now().Round(0)}
			c.clocks = func() moment { return now }
			c.Now()
			now = moment{now.wall.Add(by + time.Second), time.Second}
			store.ahead = time.Hour
			if got := time.Until(c.Now()); store.reads.Load() != 2 || (got-time.Hour).Abs() > time.Minute {
				t.Errorf("%d readings, %s ahead", store.reads.Load(), got)
			}
			now = moment{now.wall.Add(time.Second), 2 * time.Second}
			if c.Now(); store.reads.Load() != 2 {
				t.Errorf("%d readings without a jump", store.reads.Load())
			}
		})
	}
}
