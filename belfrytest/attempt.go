package belfrytest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// attempt is one run of one job, from its claim until its end is recorded. The claimGate's mu guards its fields.
type attempt struct {
	job      core.Job
	entered  bool          // its handler has been called
	over     bool          // its context has ended
	returned bool          // its handler has returned
	beats    int           // heartbeats that were answered
	stale    bool          // a heartbeat found the lease lost
	ending   bool          // its context has ended or is about to
	advanced time.Duration // how far the clock was advanced during the attempt
}

func (a *attempt) ref() core.Ref { return core.Ref{ID: a.job.ID, Token: a.job.LeaseToken} }

// watchHandlers wraps each handler: it reports entry and exit to the claimGate, and gives the handler a context that ends as in
// production when the clock is advanced past the timeout.
func (g *claimGate) watchHandlers(handlers core.Handlers) core.Handlers {
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

// attemptContext is a handler's context. If the advanced clock passes the timeout, the worker cancels the attempt with a
// cause. This context then returns DeadlineExceeded to the handler, as in production.
type attemptContext struct {
	context.Context // the worker's
	done            chan struct{}

	mu  sync.Mutex
	err error
}

// newAttemptContext returns a handler's context. It calls ended when the context ends.
func newAttemptContext(parent context.Context, ended func()) (*attemptContext, context.CancelFunc) {
	c := &attemptContext{Context: parent, done: make(chan struct{})}
	stop := context.AfterFunc(parent, func() { c.end(); ended() })
	return c, func() { stop() }
}

// end ends the context in the same way as its parent.
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

// Err returns nil until Done is closed.
func (c *attemptContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
