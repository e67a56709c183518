package work

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Advance tells the worker that d has gone by for the attempts that run, beside the time its own clock saw: for a
// host that moved the store's clock ahead (see belfrytest). Attempts whose timeout has passed by that end now, those
// that ignored their timeout for TimeoutGrace are given up, and errors say when they happened. Leases stay the
// host's business: it has to move the clock by less than a lease and Poke the jobs each time.
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

// overdue is how long ago the attempt's timeout passed; below zero: it has not.
func (a *attempt) overdue(now time.Time) time.Duration {
	return now.Sub(a.ctx.deadline) + time.Duration(a.advanced.Load())
}
