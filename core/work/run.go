package work

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Run claims due jobs from the store and runs them until ctx ends. Then it stops: it claims no more; handlers have StopGrace
// to end. Then their contexts end with ErrStopping, and the jobs of handlers that return are handed back uncounted. Jobs
// that still run half a StopGrace later are handed back as Run's last act. Run returns at the latest two StopGrace after ctx
// ended (one and a half and half a second, if that is more), with everything recorded and no goroutine of its own left, or
// with an error that says how many ends could not be recorded; their leases run out. A Worker runs once.
func (w *Worker) Run(ctx context.Context) error {
	return w.run(ctx, func(active context.Context) {
		var second sync.WaitGroup
		second.Go(func() { w.helpLoop(active) })
		w.claimLoop(active)
		second.Wait()
	})
}

// run runs intake, which takes jobs until its context ends, and the loops that attempts need.
func (w *Worker) run(ctx context.Context, intake func(context.Context)) error {
	if w.used.Swap(true) {
		return errors.New("worker: run twice")
	}
	values := context.WithoutCancel(ctx)
	calls, endCalls := context.WithCancel(values)
	defer endCalls()
	claims, endClaims := context.WithCancel(calls)
	defer endClaims()
	w.base, w.calls, w.claims, w.active = values, calls, claims, ctx

	recording, endRecording := context.WithCancel(values)
	defer endRecording()
	w.loops.Go(func() { w.beatLoop(recording) })
	w.loops.Go(func() { w.watchLoop(recording) })
	w.loops.Go(func() { w.againLoop(recording) })
	for range finishers {
		w.loops.Go(func() { w.finishLoop(recording) })
	}
	counting, endCounting := context.WithCancel(values)
	defer endCounting()
	var rollup sync.WaitGroup
	rollup.Go(func() { w.rollupLoop(counting) })

	w.tasks.Go(func() {
		w.announce(ctx)
		intake(ctx)
	})

	w.tasks.Go(func() { w.announceLoop(ctx) })

	<-ctx.Done()
	var leaving sync.WaitGroup
	leaving.Go(w.withdraw)
	left := w.stop(endClaims, endCalls)
	leaving.Wait()
	endRecording()
	w.loops.Wait()
	endCounting()
	rollup.Wait()
	last, cancel := context.WithTimeout(values, w.flushGrace())
	defer cancel()
	w.rollups.Flush(last, w.store)
	w.closeReceivers()
	if left > 0 {
		return fmt.Errorf("worker: %d attempts ended and could not be recorded: their leases run out", left)
	}
	return nil
}

// stop ends the running attempts by the steps that Run states, and returns how many ends were not recorded.
func (w *Worker) stop(endClaims, endCalls context.CancelFunc) int {
	began, grace := time.Now(), w.opts.StopGrace
	w.mu.Lock()
	w.stopping = true
	w.mu.Unlock()

	intake := make(chan struct{})
	go func() { w.tasks.Wait(); close(intake); signal(w.idleC) }()

	settled := func() bool { return w.idle(intake) }
	if !w.await(settled, began.Add(grace)) {
		w.endAll(core.ErrStopping)
		endClaims()
	}
	if !w.await(settled, began.Add(grace+grace/2)) {
		w.handBackAll()
	}
	w.await(settled, began.Add(grace+grace/2+w.flushGrace()))
	endCalls() // calls still under way have had their time
	<-intake
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ending
}

// flushGrace is the time at stop to record the last ends, and then again to leave the queue.
func (w *Worker) flushGrace() time.Duration { return max(w.opts.StopGrace/4, 250*time.Millisecond) }

// idle reports whether nothing runs, waits to be recorded or is being started.
func (w *Worker) idle(intake chan struct{}) bool {
	select {
	case <-intake:
	default:
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.held) == 0
}

// await waits until settled, at most until deadline, and reports whether it is.
func (w *Worker) await(settled func() bool, deadline time.Time) bool {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		if settled() {
			return true
		}
		select {
		case <-w.idleC:
		case <-timer.C:
			return settled()
		}
	}
}

// endAll ends the contexts of all running attempts.
func (w *Worker) endAll(cause error) {
	w.mu.Lock()
	running := make([]*attempt, 0, len(w.held))
	for _, a := range w.held {
		if a.phase == phaseRunning {
			running = append(running, a)
		}
	}
	w.mu.Unlock()
	for _, a := range running {
		a.ctx.end(cause)
	}
}

// handBackAll hands back every job whose handler still runs: the process is about to end.
func (w *Worker) handBackAll() {
	w.mu.Lock()
	var leaked []*attempt
	for _, a := range w.held {
		if a.phase == phaseRunning {
			w.leakLocked(a)
			w.endLocked(a, core.End{Ref: a.ref, Outcome: core.EndHandBack})
			leaked = append(leaked, a)
		}
	}
	w.mu.Unlock()
	for _, a := range leaked {
		w.eventOf(Leaked, a, core.ErrStopping)
	}
}
