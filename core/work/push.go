package work

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

// handBackTime is how long handing back the jobs of one call of Push may take. Cloud Run gives a whole stop ten seconds.
const handBackTime = 5 * time.Second

// Verdict says what is to become of a message that was pushed.
type Verdict uint8

const (
	Unrecorded Verdict = iota // to be delivered again: how its job ended, or that it goes back, could not be written
	Finished                  // done with: how its job ended is recorded, or the message is stale
	HandedBack                // done with: its job was not started in time and went back to the scheduler; no attempt is counted
	Unreadable                // for the dead letters: no worker can read it
	Abandoned                 // to be delivered again: its caller went away before its job was started
	Stopped                   // to be delivered again: the worker had stopped before
	unstarted                 // its job is to be handed back
)

// Done reports whether the message must not be delivered again.
func (v Verdict) Done() bool { return v == Finished || v == HandedBack }

// PushOptions are what a platform allows its messages. The zero value is ready.
type PushOptions struct {
	StartBy     time.Time // jobs that were not started by then are handed back. Zero means when the worker stops
	AnswerBy    time.Time // when Push returns, whatever still runs. Zero means when all messages have their verdicts
	MaxReleases int       // how often a message is tried again whose row was locked or whose start got no answer. Zero means as often as there is time
}

// Serve runs the jobs of the messages that calls of Push bring, until ctx ends, and stops as Run does. Jobs that were not started
// then are handed back. A Worker runs once.
func (w *Worker) Serve(ctx context.Context) error {
	defer w.pushes.abandon()
	defer context.AfterFunc(ctx, w.pushes.stop)()
	if _, err := w.join(nil); err != nil {
		return err
	}
	w.gate.init(1)
	w.queues, w.passing.queue = true, w.opts.Pass
	w.fixed.Store(true) // there is no visibility timeout: the platform waits for the verdicts
	return w.run(ctx, func(active context.Context) {
		for _, p := range core.Priorities {
			w.tasks.Go(func() { w.pushLoop(active, p) })
		}
	})
}

// Batch is Serve for a single call of Push: it runs the jobs of messages, and leaves nothing running. When ctx ends it stops as
// Run does; jobs that were not started then are handed back.
func (w *Worker) Batch(ctx context.Context, messages [][]byte, o PushOptions) ([]Verdict, error) {
	call := w.pushes.newCall(messages, o.MaxReleases, w.noteUnreadable) // before the worker may stop
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- w.Serve(serving) }()
	verdicts, err := w.awaitVerdicts(context.WithoutCancel(ctx), call, o)
	stop()
	return verdicts, cmp.Or(<-served, err)
}

// Push runs the jobs that messages name, in the slots of the worker that serves, and returns when none of them runs any more:
// verdict i is for message i. If ctx ends, jobs that were not started are not started any more; those that run are waited
// for. The error is the store's, which did not let jobs be handed back. Safe for concurrent use.
func (w *Worker) Push(ctx context.Context, messages [][]byte, o PushOptions) ([]Verdict, error) {
	return w.awaitVerdicts(ctx, w.pushes.newCall(messages, o.MaxReleases, w.noteUnreadable), o)
}

// awaitVerdicts waits until no message of a call waits or is in hand, as Push states, and hands back what was not started.
func (w *Worker) awaitVerdicts(ctx context.Context, call *pushCall, o PushOptions) ([]Verdict, error) {
	late, over, gone := at(o.StartBy), at(o.AnswerBy), ctx.Done()
	for waits := true; waits; {
		select {
		case <-call.settled:
			waits = false
		case <-late:
			w.pushes.close(call, unstarted)
		case <-gone:
			w.pushes.close(call, Abandoned)
			gone = nil
		case <-over:
			w.pushes.close(call, unstarted)
			waits = false
		}
	}
	w.pushes.remove(call)
	return w.verdicts(context.WithoutCancel(ctx), call, o.AnswerBy)
}

// at returns a channel that delivers at t, or never if t is zero.
func at(t time.Time) <-chan time.Time {
	if t.IsZero() {
		return nil
	}
	return time.After(time.Until(t))
}

// verdicts hands back the jobs that were not started and says what became of all messages of a call that is over.
func (w *Worker) verdicts(ctx context.Context, call *pushCall, by time.Time) (verdicts []Verdict, err error) {
	left := map[core.Ref]bool{}
	for _, m := range call.messages {
		if m.verdict == unstarted {
			left[core.Ref{ID: m.ID, Token: m.Token}] = true
		}
	}
	var unwritten map[int64]bool
	if len(left) > 0 {
		ctx, cancel := context.WithTimeout(ctx, handBackTime)
		defer cancel()
		if !by.IsZero() {
			ctx, cancel = context.WithDeadline(ctx, by)
			defer cancel()
		}
		unwritten, err = w.handBack(ctx, slices.Collect(maps.Keys(left)))
	}
	for _, m := range call.messages {
		v := m.verdict
		if v == unstarted {
			v = HandedBack
			if unwritten[m.ID] {
				v = Unrecorded
			}
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, err
}

// handBack gives queued rows back to the scheduler: they are started, and ended without an attempt. It returns the ids of those that it
// could not write. Where a row is not queued under its token any more there is nothing to give back.
func (w *Worker) handBack(ctx context.Context, refs []core.Ref) (unwritten map[int64]bool, err error) {
	unwritten = map[int64]bool{}
	res, err := w.store.Start(ctx, refs, core.ClaimRequest{WorkerID: *w.name.Load(), ClaimID: newClaimID(), Lease: w.opts.Lease})
	if err != nil {
		res = core.StartResult{Busy: refs}
	}
	for _, ref := range res.Busy {
		unwritten[ref.ID] = true
	}
	if len(res.Jobs) > 0 {
		ends := make([]core.End, len(res.Jobs))
		for i, job := range res.Jobs {
			ends[i] = core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndHandBack}
		}
		var answers []core.EndAnswer
		answers, err = w.store.Finish(ctx, ends)
		for i, end := range ends {
			unwritten[end.Ref.ID] = i >= len(answers) || answers[i].Busy
		}
	}
	if err != nil {
		err = fmt.Errorf("hand back: %w", err)
	}
	return unwritten, err
}

// pushLoop starts the jobs of pushed messages of one priority as slots come free, until ctx ends.
func (w *Worker) pushLoop(ctx context.Context, p core.Priority) {
	s := w.newStarter(p)
	for ctx.Err() == nil {
		n := min(w.pushes.waiting(p), maxStart)
		switch {
		case n == 0:
			select {
			case <-ctx.Done():
			case <-w.pushes.arrived[p]:
			}
			continue
		case w.beats.down():
			wait.Sleep(ctx, w.opts.Heartbeat/8)
			continue
		}
		w.gatherSlots(ctx)
		n = w.take(ctx, p, n, time.Time{})
		messages, more := w.pushes.takeQueued(p, n)
		w.received(p, more)
		if len(messages) > 0 && w.announcer.due(time.Now()) { // the timer of a function that is frozen does not run
			signal(w.announceC)
		}
		messages = s.refuse(ctx, w.distinct(messages))
		w.give(p, n-len(messages))
		s.start(ctx, messages)
	}
}
