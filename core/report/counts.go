package report

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/rollup"
)

// reportCounts gathers a Reporter's counts and writes them a second later, so that many reported ends do not wait for each
// other at the rows of the counts.
type reportCounts struct {
	rollups *rollup.Counts
	store   rollup.Store
	stop    chan struct{}
	flushes sync.WaitGroup

	mu      sync.Mutex
	pending bool // a flush is running or scheduled
	closed  bool
}

func newReportCounts(store rollup.Store, id string) *reportCounts {
	return &reportCounts{rollups: rollup.New(id), store: store, stop: make(chan struct{})}
}

// add counts one end. It uses this process's minute: reading the store's clock is not worth a call.
func (c *reportCounts) add(ctx context.Context, job *core.Job, outcome core.Outcome, status core.Status) {
	c.rollups.Ended(job.Priority, job.Type, time.Now(), status, outcome)

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending || c.closed {
		return
	}
	c.pending = true
	values := context.WithoutCancel(ctx)
	c.flushes.Go(func() { c.flushSoon(values) })
}

// flushSoon writes the counts of the next second. Counts that could not be written are written with the next ones.
func (c *reportCounts) flushSoon(ctx context.Context) {
	timer := time.NewTimer(rollup.Every)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.stop:
		return // close writes them
	}
	c.mu.Lock()
	c.pending = false
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c.rollups.Flush(ctx, c.store)
}

// close writes the remaining counts.
func (c *reportCounts) close(ctx context.Context) {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stop)
	}
	c.mu.Unlock()
	c.flushes.Wait()
	c.rollups.Flush(ctx, c.store)
}
