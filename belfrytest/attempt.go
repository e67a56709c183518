package belfrytest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// attempt is one run of one job, from its claim until its end is recorded. Fields are guarded by the claimGate's mu.
type attempt struct {
	job      core.Job
	entered  bool          // its handler has been called
	over     bool          // its context has ended
	returned bool          // it is back
	beats    int           // heartbeats answered
	stale    bool          // one of them said that the lease is lost
	ending   bool          // its context has ended or is about to
	advanced time.Duration // by how much the clock was advanced meanwhile
}

func (a *attempt) ref() core.Ref { return core.Ref{ID: a.job.ID, Token: a.job.LeaseToken} }

// watched wraps each handler: it reports entry and exit to the claimGate, and gives the handler a context that ends as in
// production when the clock is advanced past the timeout.
func (g *claimGate) watched(handlers core.Handlers) core.Handlers {
	all := make(core.Handlers, len(handlers))
	for jobType, h := range handlers {
		all[jobType] = core.HandlerFunc(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			a := g.entered(job)
			defer g.left(a)
			ctx, release := newAttemptContext(ctx, func() { g.over(a) })
			defer release()
			return h.Work(ctx, job)
		})
	}
	return all
}

// attemptContext is a handler's context. The worker ends an attempt whose timeout passed by the advanced clock as it
// ends any other: as cancelled, for a cause. To the handler that is to look like a deadline, as in production.
type attemptContext struct {
	context.Context // the worker's
	done            chan struct{}

	mu  sync.Mutex
	err error
}

// newAttemptContext returns a handler's context; it calls ended when it has ended.
func newAttemptContext(parent context.Context, ended func()) (*attemptContext, context.CancelFunc) {
	c := &attemptContext{Context: parent, done: make(chan struct{})}
	stop := context.AfterFunc(parent, func() { c.end(); ended() })
	return c, func() { stop() }
}

// end makes the context end as its parent did.
func (c *attemptContext) end() {
	err := c.Context.Err()
	if errors.Is(context.Cause(c.Context), core.ErrTimeout) {
		err = context.DeadlineExceeded
	}
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	close(c.done)
}

// Done is closed when the handler must stop.
func (c *attemptContext) Done() <-chan struct{} { return c.done }

// Err is nil until then.
func (c *attemptContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
