package work

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/decide"
)

// phase is the progress of an attempt at its worker.
type phase uint8

const (
	phaseRunning phase = iota // its handler runs, or is about to
	phaseEnded                // its end is decided but not recorded yet
	phaseGone                 // recorded, or given up: the worker is done with it
)

// attempt is one run of one job at its worker. Fields below mu's line are guarded by Worker.mu.
type attempt struct {
	w        *Worker
	job      core.Job // handed to the handler
	ref      core.Ref // fences its writes, also if the handler changes job
	typ      string
	priority core.Priority
	handler  core.Handler
	batch    *claimed
	ctx      attemptContext
	timeout  time.Duration
	delivery core.Delivery // queue mode: its message
	advanced atomic.Int64  // nanoseconds by which the host moved the clock ahead during the attempt; see Worker.Advance

	// Guarded by Worker.mu.
	place  int // in Worker.held
	phase  phase
	lease  time.Time // local moment the lease counts from
	lost   time.Time // when its lease was given up; zero: it was not
	stale  bool      // the store said that the lease belongs to another worker
	end    core.End
	tries  int
	tryAt  time.Time
	leaked bool
}

// claimed holds what the attempts of one claim or start share.
type claimed struct {
	sent  time.Time // local, before the call: leases count from here
	store time.Time // the store's now, in the call
}

// storeTime estimates the store's time at the local moment t. It is late by at most the claim's duration.
func (c *claimed) storeTime(t time.Time) time.Time { return c.store.Add(t.Sub(c.sent)) }

var errGoexit = errors.New("the handler ended its goroutine")

// begin makes attempts of jobs that the store has made running, and runs them. It hands back at once jobs that may
// not run here any more, and suspects that have to wait for their turn. deliveries is nil or holds the message of each job.
func (w *Worker) begin(jobs []core.Job, batch *claimed, deliveries []core.Delivery) {
	if len(jobs) == 0 {
		return
	}
	now := time.Now()
	attempts := make([]*attempt, len(jobs))
	for i := range jobs {
		attempts[i] = w.newAttempt(&jobs[i], batch, now)
		if deliveries != nil {
			attempts[i].delivery = deliveries[i]
		}
	}
	fresh := w.leaseLeft(batch.sent, now) > w.leaseMargin()
	running, suspected := attempts[:0], []*attempt(nil)
	w.mu.Lock()
	stopping := w.stopping
	for _, a := range attempts {
		a.place = len(w.held)
		w.held = append(w.held, a)
		w.running[a.priority]++
		switch {
		case stopping || !fresh:
			w.endLocked(a, core.End{Ref: a.ref, Outcome: core.EndHandBack})
		case a.handler == nil:
			w.endLocked(a, w.noHandler(a))
		case a.job.Suspect():
			wait, ok := w.suspects.admit(a, now, w.opts.Chance())
			if !ok {
				w.endLocked(a, core.End{Ref: a.ref, Outcome: core.EndHandBack, Wait: wait})
				continue
			}
			running, suspected = append(running, a), append(suspected, a)
		default:
			running = append(running, a)
		}
	}
	w.mu.Unlock()
	for _, a := range suspected {
		w.eventOf(SuspectRuns, a, fmt.Errorf("%d runs in a row were lost with their workers", a.job.Losses()))
	}
	for _, a := range running {
		go a.run()
	}
}

func (w *Worker) newAttempt(job *core.Job, batch *claimed, now time.Time) *attempt {
	a := &attempt{
		w: w, job: *job, ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, typ: job.Type, priority: job.Priority,
		batch: batch, lease: batch.sent,
	}
	a.handler = w.work(a)
	if !a.priority.Valid() {
		a.priority = core.Default // damaged by hand; it must not stop the others
	}
	if a.timeout = job.Timeout; a.timeout <= 0 {
		a.timeout = w.opts.Timeout
	}
	most := a.timeout
	if w.opts.MaxTime > 0 {
		most = min(most, w.opts.MaxTime) // of the host; a target that accepted the job has its whole timeout
	}
	a.ctx.base, a.ctx.deadline = w.base, now.Add(most)
	return a
}

// run calls the handler and always ends the attempt.
func (a *attempt) run() {
	ran := decide.Ran{Err: errGoexit, Panic: true}
	defer func() {
		if v := recover(); v != nil {
			ran = decide.Ran{Err: panicError(v), Panic: true}
		}
		ran.Cause = a.ctx.ended()
		a.w.handlerEnded(a, ran)
	}()
	now := time.Now()
	if a.w.leaseLeft(a.batch.sent, now) <= a.w.leaseMargin() && a.w.tooLate(a, now) {
		ran = decide.Ran{Err: core.ErrLeaseLost}
		a.ctx.end(core.ErrLeaseLost)
		return
	}
	at := a.batch.storeTime(now)
	a.w.rollups.Started(a.priority, a.typ, at, at.Sub(a.job.RunAt))
	result, err := a.handler.Work(&a.ctx, &a.job)
	ran = decide.Ran{Err: err, Result: result}
}

// tooLate reports whether the attempt's lease leaves no time to enter its handler.
func (w *Worker) tooLate(a *attempt, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leaseLeft(a.lease, now) <= w.leaseMargin()
}

// panicError describes a recovered panic with the stack it happened on.
func panicError(v any) error {
	stack := make([]byte, 2*core.MaxErrorBytes)
	stack = stack[:runtime.Stack(stack, false)]
	return fmt.Errorf("panic: %v\n%s", v, stack)
}

// decide is decide.End for an attempt that ended at the local moment now.
func (w *Worker) decide(a *attempt, ran decide.Ran, now time.Time) core.End {
	at := a.batch.storeTime(now).Add(time.Duration(a.advanced.Load()))
	end := decide.End(&a.job, ran, at, w.opts.Chance())
	end.Ref = a.ref
	if end.Outcome == core.EndAccepted {
		end.Wait = a.timeout
	}
	return end
}

// handlerEnded decides the end of an attempt whose handler has returned.
func (w *Worker) handlerEnded(a *attempt, ran decide.Ran) {
	a.ctx.release()
	end := core.End{Ref: a.ref, Outcome: core.EndDone}
	if ran.Err != nil || len(ran.Result) > 0 {
		end = w.decide(a, ran, time.Now())
	}
	w.mu.Lock()
	late := a.phase != phaseRunning
	if late {
		w.counts.LateResults++
		if a.leaked {
			w.counts.Leaked--
		}
	} else {
		w.suspects.ended(a, time.Now())
		w.endLocked(a, end)
	}
	if ran.Panic {
		w.counts.Panics++
	}
	w.mu.Unlock()
	if ran.Panic {
		w.eventOf(Panicked, a, ran.Err)
	}
	if late {
		w.eventOf(LateResult, a, ran.Err)
	}
}

// endLocked frees the attempt's slot and hands its end to the finishers. Worker.mu is held.
func (w *Worker) endLocked(a *attempt, end core.End) {
	a.phase, a.end = phaseEnded, end
	w.running[a.priority]--
	w.ending++
	w.ended = append(w.ended, a)
	if a.delivery != nil {
		w.freedAt = time.Now()
	}
	if len(w.ended) == 1 {
		signal(w.endedC)
	}
	if len(w.ended) == maxFinish || w.running == [core.Bulk + 1]int{} {
		signal(w.fullC)
	}
	w.slotFreed()
}

// slotFreed wakes the loops that wait for slots. Worker.mu is held.
func (w *Worker) slotFreed() {
	if w.slotWant > 0 {
		if open, reserved := w.freeLocked(); open+reserved >= w.slotWant {
			w.slotWant = 0
			signal(w.slotC)
		}
	}
	if w.gate.waiting != [core.Bulk + 1]int{} {
		w.offerLocked()
	}
	if w.stopping {
		signal(w.idleC)
	}
}

// dropLocked drops an attempt. Worker.mu is held.
func (w *Worker) dropLocked(a *attempt) {
	if a.phase == phaseGone {
		return
	}
	if a.phase == phaseRunning {
		w.running[a.priority]--
	} else {
		w.ending--
	}
	a.phase = phaseGone
	last := len(w.held) - 1
	w.held[a.place] = w.held[last]
	w.held[a.place].place = a.place
	w.held[last] = nil
	w.held = w.held[:last]
	w.slotFreed()
}

// freeLocked returns how many slots a job that is not critical may take, and how many more a critical one may.
// None is free while too many ends wait to be recorded. Worker.mu is held.
func (w *Worker) freeLocked() (open, reserved int) {
	used := 0
	for p := range w.running {
		used += w.running[p] + w.promised[p]
	}
	critical := w.running[core.Critical] + w.promised[core.Critical]
	if w.ending >= maxEndingPerSlot*w.opts.Slots {
		return 0, 0
	}
	all := max(w.opts.Slots-used, 0)
	open = min(all, max(w.opts.Slots-w.opts.CriticalSlots-(used-critical), 0))
	return open, all - open
}
