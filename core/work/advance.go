package work

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Advance tells the worker that d has passed for its running attempts, in addition to the time on its own clock: a host
// calls it after it moved the store's clock ahead (see belfrytest). Attempts whose timeout has passed end now, attempts that
// ignored their timeout for TimeoutGrace are given up, and errors have the advanced time. The host must keep the leases: it
// moves the clock by less than a lease and calls Poke for each job each time.
func (w *Worker) Advance(d time.Duration) {
	now := time.Now()
	var overdue []*attempt
	w.mu.Lock()
	for _, a := range w.held {
		if a.phase != phaseRunning {
			continue
		}
		if a.advanced.Add(int64(d)); a.overdue(now) >= 0 {
			overdue = append(overdue, a)
		}
	}
	w.mu.Unlock()
	for _, a := range overdue {
		a.ctx.end(core.ErrTimeout)
	}
	w.watch(now)
}

// overdue returns how long ago the attempt's timeout passed; it is negative before that.
func (a *attempt) overdue(now time.Time) time.Duration {
	return now.Sub(a.ctx.deadline) + time.Duration(a.advanced.Load())
}
