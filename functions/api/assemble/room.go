package assemble

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	roomFor     = time.Second     // how long what was counted holds: about a tick
	fullFor     = 5 * time.Second // and where there was no room, or no answer
	roomTimeout = time.Second     // of counting, which a submit waits for
)

// room is credit of a process that publishes beside the scheduler and knows nothing of its windows: it counts what is
// queued, at most once a second, and fills up to the smallest window that a scheduler ever has. So where the queue is
// well filled, or there is a backlog, all is left to the tick; and consumers that stop find at most that many more
// messages for each process.
type room struct {
	store interface {
		CountQueued(ctx context.Context) (map[core.Priority]int, error)
	}

	mu    sync.Mutex
	until time.Time
	left  map[core.Priority]int
}

// take returns how many of n jobs may be published.
func (r *room) take(p core.Priority, n int, now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now = now.Round(0); !now.Before(r.until) { // by the wall clock: the other one stands still while a function is frozen
		r.until = now.Add(r.count())
	}
	n = min(n, r.left[p])
	r.left[p] -= n
	return n
}

// count sees how much room there is, and says how long that holds. The mutex is held.
func (r *room) count() time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), roomTimeout)
	defer cancel()
	queued, err := r.store.CountQueued(ctx)
	r.left = map[core.Priority]int{}
	if err != nil {
		return fullFor
	}
	holds := fullFor
	for _, p := range core.Priorities {
		if r.left[p] = max(0, core.WindowFloor-queued[p]); r.left[p] > 0 {
			holds = roomFor
		}
	}
	return holds
}
