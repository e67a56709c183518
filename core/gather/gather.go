package gather

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrClosed answers Add after Close.
var ErrClosed = errors.New("gather: closed")

// Options say how items are put together.
type Options struct {
	Most    int           // items of one batch. Zero means 10
	Wait    time.Duration // how long an item waits for others. Zero means 10 ms
	Calls   int           // batches on their way at once. Zero means 8
	Timeout time.Duration // of one batch. Zero means 30 s
}

// Gatherer hands items to a function in batches: full ones at once, others when their first item has waited long
// enough. Its methods may be called concurrently.
type Gatherer[T any] struct {
	opts  Options
	do    func(ctx context.Context, batch []T)
	life  context.Context
	stop  context.CancelFunc
	calls chan struct{} // one token per batch on its way

	mu     sync.Mutex
	batch  []T
	timer  *time.Timer
	flying sync.WaitGroup
	closed bool
}

// New makes a Gatherer. do is called from goroutines of its own, several at once; its context ends with the
// timeout, or when Close has waited long enough.
func New[T any](do func(ctx context.Context, batch []T), opts Options) *Gatherer[T] {
	if opts.Most == 0 {
		opts.Most = 10
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

// Add takes an item and returns at once. After Close it is ErrClosed.
func (g *Gatherer[T]) Add(item T) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	g.batch = append(g.batch, item)
	switch {
	case len(g.batch) >= g.opts.Most:
		g.sendLocked()
	case g.timer == nil:
		g.timer = time.AfterFunc(g.opts.Wait, g.flush)
	}
	return nil
}

// flush sends what has been gathered.
func (g *Gatherer[T]) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sendLocked()
}

// sendLocked starts a batch on its way. g.mu is held.
func (g *Gatherer[T]) sendLocked() {
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	batch := g.batch
	if g.batch = nil; len(batch) == 0 {
		return
	}
	g.flying.Go(func() {
		g.calls <- struct{}{}
		defer func() { <-g.calls }()
		ctx, cancel := context.WithTimeout(g.life, g.opts.Timeout)
		defer cancel()
		g.do(ctx, batch)
	})
}

// Close sends what has been gathered and waits for all batches; when ctx ends first their contexts end with it,
// and Close returns its error once they have returned. Closing again does nothing.
func (g *Gatherer[T]) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.sendLocked()
	g.mu.Unlock()
	landed := make(chan struct{})
	go func() {
		defer close(landed)
		g.flying.Wait()
	}()
	var err error
	select {
	case <-landed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.stop()
	<-landed
	return err
}
