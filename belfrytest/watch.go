package belfrytest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/work"
)

// Heartbeat passes heartbeats on and records the answers.
func (g *claimGate) Heartbeat(ctx context.Context, beats []core.Ref, length time.Duration) ([]core.Beat, error) {
	g.beating.RLock()
	answers, err := g.WorkStore.Heartbeat(ctx, beats, length)
	g.beating.RUnlock()
	if err != nil {
		return answers, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, answer := range answers {
		if a := g.active[beats[i]]; a != nil && !answer.Busy {
			a.beats++
			a.stale = a.stale || answer.Stale
			a.ending = a.ending || answer.Stale || answer.CancelWanted
		}
	}
	g.announceChange()
	return answers, nil
}

// Finish records which attempts have ended. It sets the time of their errors to the engine's clock: the worker adds the time
// on its own clock to the time of the claim, and that clock keeps running.
func (g *claimGate) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	for i := range ends {
		if end := &ends[i]; (end.Outcome == core.EndRetry || end.Outcome == core.EndFail) && len(end.Errors) > 0 {
			end.Errors[len(end.Errors)-1].At = g.now()
		}
	}
	answers, err := g.WorkStore.Finish(ctx, ends)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) { // a deadline: the machine is slow, and the worker tries again
		g.err = err
	}
	for i, answer := range answers {
		if !answer.Busy {
			delete(g.active, ends[i].Ref)
		}
	}
	g.recordProgress()
	return answers, err
}

// event records handlers that were given up after their lease was lost, because no end is recorded for them.
func (g *claimGate) event(e work.Event) {
	if e.Kind != work.Leaked {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.active[e.Job]; a != nil && a.stale {
		delete(g.active, e.Job)
		g.recordProgress()
	}
}

func (g *claimGate) entered(job *core.Job) *attempt {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.active[core.Ref{ID: job.ID, Token: job.LeaseToken}]
	if a == nil {
		a = &attempt{job: *job} // the answer of its claim was lost
		g.active[a.ref()] = a
	}
	a.entered = true
	g.handlers[a] = true
	g.recordProgress()
	return a
}

// over records that a handler's context has ended.
func (g *claimGate) over(a *attempt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a.over = true
	g.recordProgress()
}

func (g *claimGate) left(a *attempt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a.returned = true
	delete(g.handlers, a)
	g.recordProgress()
}

// attempts returns the active attempts, oldest job first.
func (g *claimGate) attempts() []*attempt {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.activeLocked()
}

func (g *claimGate) activeLocked() []*attempt {
	all := make([]*attempt, 0, len(g.active))
	for _, a := range g.active {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *attempt) int { return int(a.job.ID - b.job.ID) })
	return all
}

// state is the input of settle.
type state struct {
	busy  bool // attempts are in progress besides those in going
	slots int  // attempts that hold a slot
	runs  int
	steps int
	err   error
}

func (g *claimGate) state(going []*attempt) state {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := state{slots: len(g.active), runs: g.runs, steps: g.steps, err: g.err}
	for _, a := range g.active {
		if a.ending || a.returned || !slices.Contains(going, a) {
			s.busy = true
		}
	}
	return s
}

// isEntered reports whether the handler of a job is running.
func (g *claimGate) isEntered(id int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.active {
		if a.job.ID == id && a.entered {
			return true
		}
	}
	return false
}

// awaitHandlers waits until all handlers have returned, and describes those that have not.
func (g *claimGate) awaitHandlers(patience time.Duration) string {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		g.mu.Lock()
		changed, left := g.changed, len(g.handlers)
		g.mu.Unlock()
		if left == 0 {
			return ""
		}
		select {
		case <-changed:
		case <-deadline.C:
			return g.describeHandlers()
		}
	}
}
