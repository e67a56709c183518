package work

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// attemptContext is the context of one attempt. The real context, with its timer, is made when the handler first uses more
// than the deadline: many handlers never do, and a context costs more than the rest of the engine.
type attemptContext struct {
	base     context.Context
	deadline time.Time

	mu     sync.Mutex
	real   context.Context
	cancel context.CancelCauseFunc
	timer  context.CancelFunc
	cause  error // given to end
}

// Deadline is the attempt's timeout.
func (c *attemptContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done is closed when the handler must stop.
func (c *attemptContext) Done() <-chan struct{} { return c.get().Done() }

// Err is nil until then; context.Cause says why.
func (c *attemptContext) Err() error { return c.get().Err() }

// Value returns the values of the context that Run was given.
func (c *attemptContext) Value(key any) any { return c.get().Value(key) }

func (c *attemptContext) get() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		timed, stop := context.WithDeadlineCause(c.base, c.deadline, core.ErrTimeout)
		c.real, c.cancel = context.WithCancelCause(timed)
		c.timer = stop
		if c.cause != nil {
			c.cancel(c.cause)
		}
	}
	return c.real
}

// end ends the context with cause; the first cause stays.
func (c *attemptContext) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
	}
	if c.cancel != nil {
		c.cancel(cause)
	}
}

// ended returns why the context has ended, nil while it has not.
func (c *attemptContext) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real != nil && c.real.Err() != nil {
		return context.Cause(c.real)
	}
	return c.cause
}

// release frees the context's resources once the handler has returned.
func (c *attemptContext) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = context.Canceled
	}
	if c.cancel != nil {
		c.cancel(c.cause)
		c.timer()
	}
}
