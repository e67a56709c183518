package postgres

import (
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// closedLanes are lanes of which nothing is taken for a while. The zero value is ready, and costs next to nothing.
type closedLanes struct {
	mu    sync.Mutex
	until map[lane]time.Time
}

func (c *closedLanes) close(l lane, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = map[lane]time.Time{}
	}
	c.until[l] = time.Now().Add(d)
}

// open are the quotas whose lanes are not closed, and their places among all; all of them: nil.
func (c *closedLanes) open(quotas []core.Quota) (open []core.Quota, places []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.until) == 0 {
		return quotas, nil
	}
	now := time.Now()
	for i, q := range quotas {
		l := lane{q.Priority, q.Type}
		until, closed := c.until[l]
		if closed && !until.After(now) {
			delete(c.until, l)
			closed = false
		}
		if !closed {
			open, places = append(open, q), append(places, i)
		}
	}
	if len(open) == len(quotas) {
		return quotas, nil
	}
	return open, places
}

// spread puts what was taken of open quotas in the places of all.
func spread(taken []core.Taken, places []int, all int) []core.Taken {
	if places == nil {
		return taken
	}
	spread := make([]core.Taken, all)
	for i, place := range places {
		spread[place] = taken[i]
	}
	return spread
}
