package report

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/rollup"
)

// reportCounts collects a Reporter's counts and writes them a second later, so that concurrent reports do not wait for each
// other's locks on the rows of counts.
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

// add counts one end in the minute of this process's clock: an exact minute is not worth a read of the store's clock.
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

// flushSoon schedules a write of the counts in one second. Counts that failed to be written are written with the next ones.
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
