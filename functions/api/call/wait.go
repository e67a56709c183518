package call

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// How often a waiter looks: soon after somebody began to wait, then ever less often.
const (
	firstLook = 25 * time.Millisecond
	lastLook  = 250 * time.Millisecond
	lookTime  = 5 * time.Second // for one look
	RightBeat = time.Second     // between looks at a caller's token, which is known for tokenMemory
)

// waiter is the one poller behind all requests that wait: it asks for all their jobs in one statement. It
// runs only while somebody waits.
type waiter struct {
	jobs  core.JobStore
	limit int // requests that wait at once

	stop    context.Context
	stopped context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex
	calls   map[int64]*call
	n       int // requests that wait
	polling bool
	closed  bool          // nobody may begin to wait
	look    time.Duration // between looks, for now
	nudge   chan struct{} // somebody came or the last one left
}

// call is one job that is waited for.
type call struct {
	ended chan struct{} // closed when the job is said to have ended
	n     int           // requests that wait for it
}

func newWaiter(jobs core.JobStore, limit int) *waiter {
	w := &waiter{jobs: jobs, limit: limit, calls: map[int64]*call{}, nudge: make(chan struct{}, 1)}
	w.stop, w.stopped = context.WithCancel(context.Background())
	return w
}

// Right is what a call that waits must not lose.
type Right struct {
	Next  func() time.Duration // until it is asked again
	Ended func() error         // why it is lost, or nil
}

// Until returns when the job is said to have ended or d is over, both with a nil error; when ctx ends, with its
// error, and when the right to wait does, with its.
func (w *waiter) Until(ctx context.Context, id int64, d time.Duration, r Right) error {
	c, err := w.join(id)
	if err != nil {
		return err
	}
	defer w.leave(id, c)
	timer := time.NewTimer(d)
	defer timer.Stop()
	ask := time.NewTimer(r.Next())
	defer ask.Stop()
	for {
		select {
		case <-c.ended:
			return r.Ended()
		case <-timer.C:
			return r.Ended()
		case <-ask.C:
			if err := r.Ended(); err != nil {
				return err
			}
			ask.Reset(max(r.Next(), time.Millisecond))
		case <-w.stop.Done():
			return core.ErrStopping
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (w *waiter) join(id int64) (*call, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, core.ErrStopping
	}
	if w.n == w.limit {
		return nil, problem.New(http.StatusServiceUnavailable, "too many requests wait already; try again").With("Retry-After", "5")
	}
	if w.n++; !w.polling {
		w.polling = true
		w.done.Go(w.poll)
	}
	c := w.calls[id]
	if c == nil {
		c = &call{ended: make(chan struct{})}
		w.calls[id] = c
	}
	c.n++
	w.look = firstLook
	w.wakePoller()
	return c, nil
}

func (w *waiter) leave(id int64, c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n--
	if c.n--; c.n == 0 && w.calls[id] == c {
		delete(w.calls, id)
	}
	if w.n == 0 {
		w.wakePoller() // to end
	}
}

// Wake ends the waits for these jobs.
func (w *waiter) Wake(ids []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if c := w.calls[id]; c != nil {
			close(c.ended)
			delete(w.calls, id)
		}
	}
}

// Waiting counts the requests that wait.
func (w *waiter) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

func (w *waiter) wakePoller() {
	select {
	case w.nudge <- struct{}{}:
	default:
	}
}

// poll looks until nobody waits. A nudge may bring the next look forward, never put it off.
func (w *waiter) poll() {
	due := time.Now().Add(firstLook)
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	for {
		select {
		case <-w.stop.Done():
			return
		case <-w.nudge:
		case <-timer.C:
			w.lookOnce()
			due = time.Now().Add(lastLook)
		}
		next, more := w.next()
		if !more {
			return
		}
		if sooner := time.Now().Add(next); sooner.Before(due) {
			due = sooner
		}
		timer.Reset(time.Until(due))
	}
}

// next says how long to wait for the next look, and whether one is needed. It decides under the lock, so that
// a request that begins to wait now finds either this poller or none.
func (w *waiter) next() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.polling = w.n > 0
	return w.look, w.polling
}

// lookOnce asks which jobs have ended. When the store does not answer, the requests wait on: their own time
// ends them.
func (w *waiter) lookOnce() {
	w.mu.Lock()
	ids := slices.Collect(maps.Keys(w.calls))
	w.look = min(w.look*3/2, lastLook)
	w.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(w.stop, lookTime)
	defer cancel()
	ended, err := w.jobs.Ended(ctx, ids)
	if err != nil {
		return
	}
	w.Wake(slices.Collect(maps.Keys(ended)))
}

// Close ends all waits and the poller.
func (w *waiter) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.stopped()
	w.done.Wait()
}
