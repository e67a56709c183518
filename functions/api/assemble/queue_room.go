package assemble

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/tick"
)

const (
	roomFor     = time.Second     // how long a count holds: about a tick
	staleFor    = time.Second     // how long it may be used beyond that while the next one is made
	fullFor     = 5 * time.Second // how long a count holds where there was no room, or no answer
	roomTimeout = time.Second     // of counting, which the submit that counts waits for
)

// room is credit of a process that publishes beside the scheduler and knows nothing of its windows: it counts what is
// queued, at most once a second, and fills up to the smallest window that a scheduler ever has. So where the queue is
// well filled, or there is a backlog, all is left to the tick; and consumers that stop find at most that many more
// messages for each process.
//
// One submit counts, in its own time. The others go on with the count before, or, where that is old, wait for this one
// as long as their own time lasts. No lock is held while the store is asked.
type room struct {
	store  core.QueuedStore
	groups queuegroup.Groups

	mu       sync.Mutex
	until    time.Time // when the count has to be made again; by the wall clock: the other one stands still while a function is frozen
	left     map[queuegroup.Key]int
	counting chan struct{} // closed when the count that is being made has ended; nil while none is
}

// take returns how many of n jobs may be published. None where ctx ends first.
func (r *room) take(ctx context.Context, queue queuegroup.Key, n int, now time.Time) int {
	now = now.Round(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	for !now.Before(r.until) && ctx.Err() == nil {
		switch {
		case r.counting == nil:
			r.count(ctx, now)
		case now.Before(r.until.Add(staleFor)):
			return r.takeLeft(queue, n)
		default:
			r.await(ctx)
		}
	}
	if ctx.Err() != nil {
		return 0
	}
	return r.takeLeft(queue, n)
}

func (r *room) takeLeft(queue queuegroup.Key, n int) int {
	n = min(n, r.left[queue])
	r.left[queue] -= n
	return n
}

// await waits for the count that is being made, without the mutex, which is held before and after.
func (r *room) await(ctx context.Context) {
	counting := r.counting
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-counting:
	case <-ctx.Done():
	}
}

// count sees how much room there is, and until when that holds. The mutex is held before and after, but not while the
// store is asked. Where the caller has gone meanwhile, nothing is known, and the next one counts.
func (r *room) count(ctx context.Context, now time.Time) {
	counting := make(chan struct{})
	r.counting = counting
	defer func() { r.counting = nil; close(counting) }()
	queued, err := r.ask(ctx)
	if ctx.Err() != nil {
		return
	}
	left, holds := map[queuegroup.Key]int{}, fullFor
	for _, queue := range r.groups.Keys() {
		if err == nil {
			left[queue] = max(0, tick.WindowFloor-queued[queue])
		}
		if left[queue] > 0 {
			holds = roomFor
		}
	}
	r.left, r.until = left, now.Add(holds)
}

// ask asks the store without the mutex, which is held before and after.
func (r *room) ask(ctx context.Context) (map[queuegroup.Key]int, error) {
	r.mu.Unlock()
	defer r.mu.Lock()
	ctx, cancel := context.WithTimeout(ctx, roomTimeout)
	defer cancel()
	queued, err := r.store.CountQueued(ctx, len(r.groups.Names()) > 0)
	return r.groups.Queued(queued.Priorities, queued.Types), err
}
