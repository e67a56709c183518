package gather

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrClosed is returned by Add after Close.
var ErrClosed = errors.New("gather: closed")

// Options configure a Gatherer.
type Options struct {
	MaxItems int           // items in one batch. Zero means 10
	Wait     time.Duration // how long an item waits for others. Zero means 10 ms
	Calls    int           // batches sent at the same time. Zero means 8
	Timeout  time.Duration // for sending one batch. Zero means 30 s
}

// Gatherer passes items to a function in batches. It sends a full batch at once, and any other when its first item has
// waited for Options.Wait. Its methods may be called concurrently.
type Gatherer[T any] struct {
	opts  Options
	do    func(ctx context.Context, batch []T)
	life  context.Context
	stop  context.CancelFunc
	calls chan struct{} // one token per batch that is being sent

	mu      sync.Mutex
	batch   []T
	timer   *time.Timer
	calling sync.WaitGroup
	closed  bool
}

// New makes a Gatherer. do sends one batch; it is called from several goroutines at once. Its context ends after the
// timeout, or when the context of Close ends.
func New[T any](do func(ctx context.Context, batch []T), opts Options) *Gatherer[T] {
	if opts.MaxItems == 0 {
		opts.MaxItems = 10
	}
	if opts.Wait == 0 {
		opts.Wait = 10 * time.Millisecond
	}
	if opts.Calls == 0 {
		opts.Calls = 8
	}
	if opts.Timeout == 0 {
		opts.Timeout = 30 * time.Second
	}
	g := &Gatherer[T]{opts: opts, do: do, calls: make(chan struct{}, opts.Calls)}
	g.life, g.stop = context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	return g
}

// Add adds an item and returns at once. It returns ErrClosed after Close.
func (g *Gatherer[T]) Add(item T) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	g.batch = append(g.batch, item)
	switch {
	case len(g.batch) >= g.opts.MaxItems:
		g.sendLocked()
	case g.timer == nil:
		g.timer = time.AfterFunc(g.opts.Wait, g.flush)
	}
	return nil
}

// flush sends the current batch.
func (g *Gatherer[T]) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sendLocked()
}

// sendLocked starts sending a batch. The caller holds g.mu.
func (g *Gatherer[T]) sendLocked() {
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	batch := g.batch
	if g.batch = nil; len(batch) == 0 {
		return
	}
	g.calling.Go(func() {
		g.calls <- struct{}{}
		defer func() { <-g.calls }()
		ctx, cancel := context.WithTimeout(g.life, g.opts.Timeout)
		defer cancel()
		g.do(ctx, batch)
	})
}

// Close sends the current batch and waits for all batches. If ctx ends first, it cancels their contexts, waits until they
// return and returns the error of ctx. Closing again does nothing.
func (g *Gatherer[T]) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.sendLocked()
	g.mu.Unlock()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		g.calling.Wait()
	}()
	var err error
	select {
	case <-sent:
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.stop()
	<-sent
	return err
}
