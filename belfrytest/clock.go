package belfrytest

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Now is what the clock shows.
func (e *Engine) Now() time.Time {
	return e.start.Add(time.Duration(e.offset.Load()) * time.Microsecond)
}

// Advance lets d go by: it runs what is due now, moves the clock to each instant at which something more becomes due,
// runs that to its end, and so on until the clock shows d more. On the way the scheduler ticks, jobs expire, leases
// of running attempts are kept and their timeouts pass.
//
// An attempt that ran already when Advance was called (see WaitFor) goes on meanwhile and is waited for only once its
// context ends: where it is to end before time passes, call WaitFor or Drain first. One that begins meanwhile is
// waited for, so its handler must return without the clock's help.
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
		e.pass("Advance", min(left, e.untilTimeout(next)))
	}
}

// Skip lets d go by while nothing of Belfry works: no tick, no worker, no heartbeat, as when its machine sleeps or is
// cut off. Leases that pass are lost: their jobs are taken from the handlers, whose contexts end with
// core.ErrLeaseLost. What became due runs with the next Drain, Advance or WaitFor.
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
	e.beat("Skip")
	e.await("Skip", "the contexts of lost attempts to end", func() bool {
		for _, a := range e.claimGate.active {
			if a.stale && !a.over && !a.returned {
				return false
			}
		}
		return true
	})
	e.moved(d)
}

// pass moves the clock by d, within which nothing becomes due. Whatever runs keeps its lease: the heartbeats of d are
// made up for before anyone looks.
func (e *Engine) pass(act string, d time.Duration) {
	e.t.Helper()
	e.offset.Add(d.Microseconds())
	e.moved(d)
	e.beat(act)
}

// moved tells the worker and the attempts that the clock was moved by d.
func (e *Engine) moved(d time.Duration) {
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

// untilTimeout is the least of next and what is left to any running attempt.
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

// beat has the leases of all attempts extended and what they are told heard: that cancel is wanted, that a lease
// is lost.
func (e *Engine) beat(act string) {
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
