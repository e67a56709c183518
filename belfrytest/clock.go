package belfrytest

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Now returns the time of the engine's clock.
func (e *Engine) Now() time.Time {
	return e.start.Add(time.Duration(e.offset.Load()) * time.Microsecond)
}

// Advance moves the clock by d. It runs what is due now, moves the clock to the next instant at which something becomes due,
// runs that to its end, and so on. On the way the scheduler ticks, jobs expire, running attempts keep their leases, and
// their timeouts pass.
//
// An attempt that was running when Advance was called (see WaitFor) continues. Advance waits for it only after its context
// has ended; to let it end earlier, call WaitFor or Drain first. Advance waits for every attempt that begins in it, so their
// handlers must return without a move of the clock.
func (e *Engine) Advance(d time.Duration) {
	e.t.Helper()
	defer e.drive("Advance")()
	if d < 0 {
		e.t.Fatalf("Advance: %s is in the past", d)
	}
	target := e.Now().Add(d.Truncate(core.Precision))
	going := e.claimGate.attempts()
	for {
		next := e.settle("Advance", going, nil)
		left := target.Sub(e.Now())
		if left <= 0 {
			return
		}
		e.moveClock("Advance", min(left, e.untilTimeout(next)))
	}
}

// Skip moves the clock by d while Belfry is stopped: no tick, no worker, no heartbeat, as when its machine sleeps or is cut
// off. Leases that expire are lost: the contexts of their handlers end with core.ErrLeaseLost. Jobs that became due run in
// the next Drain, Advance or WaitFor.
func (e *Engine) Skip(d time.Duration) {
	e.t.Helper()
	defer e.drive("Skip")()
	if d < 0 {
		e.t.Fatalf("Skip: %s is in the past", d)
	}
	e.claimGate.beating.Lock()
	e.offset.Add(d.Microseconds())
	_, err := e.ticker.Tick(context.Background())
	e.claimGate.beating.Unlock()
	if err != nil {
		e.t.Fatalf("Skip: %v", err)
	}
	e.extendLeases("Skip")
	e.await("Skip", "the contexts of lost attempts to end", func() bool {
		for _, a := range e.claimGate.active {
			if a.stale && !a.over && !a.returned {
				return false
			}
		}
		return true
	})
	e.clockMoved(d)
}

// moveClock moves the clock by d, within which nothing becomes due. Running attempts keep their leases: the heartbeats of this
// time are sent before anything reads the leases.
func (e *Engine) moveClock(act string, d time.Duration) {
	e.t.Helper()
	e.offset.Add(d.Microseconds())
	e.clockMoved(d)
	e.extendLeases(act)
}

// clockMoved tells the worker and the attempts that the clock has moved by d.
func (e *Engine) clockMoved(d time.Duration) {
	e.claimGate.mu.Lock()
	for _, a := range e.claimGate.active {
		a.advanced += d
		a.ending = a.ending || a.advanced >= e.timeoutOf(a)
	}
	e.claimGate.mu.Unlock()
	if e.worker != nil {
		e.worker.Advance(d)
	}
}

func (e *Engine) timeoutOf(a *attempt) time.Duration {
	if a.job.Timeout > 0 {
		return a.job.Timeout
	}
	return e.opts.Timeout
}

// untilTimeout returns the smaller of next and the shortest time to a timeout of a running attempt.
func (e *Engine) untilTimeout(next time.Duration) time.Duration {
	e.claimGate.mu.Lock()
	defer e.claimGate.mu.Unlock()
	for _, a := range e.claimGate.active {
		if !a.ending {
			next = min(next, e.timeoutOf(a)-a.advanced)
		}
	}
	return next
}

// extendLeases extends the leases of all attempts, and waits until the worker has handled the answers: cancel is wanted, or the
// lease is lost.
func (e *Engine) extendLeases(act string) {
	e.t.Helper()
	e.await(act, "handlers to be entered", func() bool {
		for _, a := range e.claimGate.active {
			if !a.entered {
				return false
			}
		}
		return true
	})
	e.claimGate.mu.Lock()
	before := map[*attempt]int{}
	for _, a := range e.claimGate.active {
		before[a] = a.beats
	}
	e.claimGate.mu.Unlock()
	for a := range before {
		e.worker.Poke(a.job.ID)
	}
	e.await(act, "heartbeats", func() bool {
		for a, beats := range before {
			if e.claimGate.active[a.ref()] == a && a.beats == beats {
				return false
			}
		}
		return true
	})
}
