package belfrytest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// Drain runs everything that is due, and everything that becomes due as a result, until nothing is due or running. It does
// not move the clock, so retries wait for their back-off. Jobs without a handler stay as they are.
func (e *Engine) Drain() {
	e.t.Helper()
	defer e.drive("Drain")()
	e.settle("Drain", nil, nil)
}

// WaitFor runs due jobs until job id has the status, without moving the clock, and returns the job. With core.Running it
// returns once the handler has been called and leaves it running, for tests of cancel, timeouts and lost leases. It fails
// the test if the job ends in another status or cannot reach this one now.
func (e *Engine) WaitFor(id int64, status core.Status) core.Job {
	e.t.Helper()
	defer e.drive("WaitFor")()
	going := e.claimGate.attempts()
	going = slices.DeleteFunc(going, func(a *attempt) bool { return a.job.ID == id })
	var job core.Job
	e.settle("WaitFor", going, func() bool {
		job = e.Job(id)
		if job.Status == core.Running && status == core.Running {
			return e.claimGate.isEntered(id)
		}
		return job.Status == status || job.Status.Ended()
	})
	job = e.Job(id) // its end may have been recorded by now
	if job.Status != status {
		e.t.Fatalf("WaitFor: job %d is not %s:\n%s", id, status, e.describe(job))
	}
	return job
}

// settle runs the engine until done returns true, or until nothing can run except the attempts in going. It returns the time
// until more is due.
func (e *Engine) settle(act string, going []*attempt, done func() bool) (next time.Duration) {
	e.t.Helper()
	defer e.claimGate.closeAndWait()
	steps, since := -1, time.Now()
	for {
		changed := e.claimGate.change()
		due, next := e.tick(act)
		if done != nil && done() {
			return next
		}
		now := e.claimGate.state(going)
		free := now.slots < e.opts.Slots
		switch {
		case now.err != nil:
			e.t.Fatalf("%s: %v", act, now.err)
		case now.runs > e.opts.MaxRuns:
			e.t.Fatalf("%s: %d attempts without an end: do jobs keep submitting jobs that are due at once? Options.MaxRuns allows more.\n%s", act, now.runs, e.describeLive())
		case !now.busy && (len(due) == 0 || !free):
			e.claimGate.closeAndWait()
			if !isClosed(changed) {
				return next
			}
			continue // an end was recorded after the tick
		}
		if len(due) > 0 && free {
			e.claimGate.openFor(e.choose(due), changed)
			e.worker.Wake()
		}
		if now.steps != steps {
			steps, since = now.steps, time.Now()
		}
		e.awaitChange(act, changed, since)
	}
}

// tick makes one pass of the scheduler. It returns the due lanes and the time until another one is due.
func (e *Engine) tick(act string) (due []core.Lane, next time.Duration) {
	e.t.Helper()
	next = core.MaxDelay
	var report tick.Report
	for more := true; more; more = report.More || report.Runs > 0 { // runs of schedules become due in the next pass
		var err error
		if report, err = e.ticker.Tick(context.Background()); err != nil {
			e.t.Fatalf("%s: %v", act, err)
		}
	}
	next = e.untilSchedule(act, next)
	for _, lane := range report.Waiting {
		switch {
		case e.handlers[lane.Type] == nil:
		case lane.DueIn <= 0:
			due = append(due, lane)
		default:
			next = min(next, lane.DueIn)
		}
	}
	return due, next
}

// choose returns the lane to claim from next if jobs run one after the other: the most urgent one, then the one that has
// been due longest. With more slots the worker divides them itself.
func (e *Engine) choose(due []core.Lane) *core.Lane {
	if e.opts.Slots > 1 {
		return nil
	}
	first := slices.MinFunc(due, func(a, b core.Lane) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.DueIn, b.DueIn), cmp.Compare(a.Type, b.Type))
	})
	return &first
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// await waits until ready returns true; it is called with the claimGate's mu held.
func (e *Engine) await(act, what string, ready func() bool) {
	e.t.Helper()
	deadline := time.NewTimer(e.opts.Patience)
	defer deadline.Stop()
	for {
		e.claimGate.mu.Lock()
		changed, ok := e.claimGate.changed, ready()
		e.claimGate.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			e.t.Fatalf("%s: waited %s for %s\n%s", act, e.opts.Patience, what, e.describeLive())
		}
	}
}

// awaitChange waits for a change. It gives up after Patience without progress of any attempt since the given moment.
func (e *Engine) awaitChange(act string, changed <-chan struct{}, since time.Time) {
	e.t.Helper()
	deadline := time.NewTimer(e.opts.Patience - time.Since(since))
	defer deadline.Stop()
	select {
	case <-changed:
	case <-deadline.C:
		e.t.Fatalf("%s: nothing happened for %s, and these are not at their end. %s\n%s", act, e.opts.Patience,
			"A handler that waits for its context, or for the test, is to be waited for with WaitFor(id, core.Running), and then Advance, Cancel or Skip.",
			e.describeLive())
	}
}
