package work

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/decide"
)

// watchEvery is the period of watchLoop: a small part of the margin before a lease's end.
func (w *Worker) watchEvery() time.Duration {
	return min(max(w.opts.Lease/100, 5*time.Millisecond), 500*time.Millisecond)
}

// watchLoop stops handlers whose lease cannot be kept and gives up those that ignore their context, until done
// ends: one scan now and then instead of timers for each attempt. (A timeout ends the context by itself.)
func (w *Worker) watchLoop(done context.Context) {
	ticker := time.NewTicker(w.watchEvery())
	defer ticker.Stop()
	for {
		select {
		case <-done.Done():
			return
		case <-ticker.C:
			w.watch(time.Now())
		}
	}
}

// watch looks at every running attempt once.
func (w *Worker) watch(now time.Time) {
	var lost, leaked []*attempt
	w.mu.Lock()
	for i := 0; i < len(w.held); i++ {
		a := w.held[i]
		if a.phase != phaseRunning {
			continue
		}
		if a.lost.IsZero() && w.leaseLeft(a.lease, now) <= w.leaseMargin() {
			a.lost = now
			w.counts.LostLeases++
			lost = append(lost, a)
		}
		overdue := a.overdue(now)
		switch grace := w.opts.TimeoutGrace; {
		case !a.lost.IsZero() && now.Sub(a.lost) >= grace+w.leaseMargin():
			// Another worker has the row: there is no end to record, only a slot to free.
			w.leakLocked(a)
			w.dropLocked(a)
			leaked = append(leaked, a)
			i--
		case overdue >= grace && a.lost.IsZero():
			w.leakLocked(a)
			w.endLocked(a, w.decide(a, decide.Ran{Err: core.ErrTimeout, Cause: core.ErrTimeout}, now))
			leaked = append(leaked, a)
		}
	}
	w.mu.Unlock()
	if len(lost) > 0 {
		w.beats.mu.Lock()
		w.beats.lost = true
		w.beats.mu.Unlock()
		signal(w.beats.pokeC)
	}
	for _, a := range lost {
		a.ctx.end(core.ErrLeaseLost)
		w.eventOf(LeaseLost, a, core.ErrLeaseLost)
	}
	for _, a := range leaked {
		w.eventOf(Leaked, a, nil)
		if a.delivery != nil && !a.lost.IsZero() {
			w.acknowledge(a.delivery) // another worker has the row
		}
	}
}

// leakLocked counts a handler that ignores the end of its context. Worker.mu is held.
func (w *Worker) leakLocked(a *attempt) {
	a.leaked = true
	w.counts.Leaked++
	w.counts.LeaksEver++
}
