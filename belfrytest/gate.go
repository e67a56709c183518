package belfrytest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// gate is the store as the worker sees it: claims reach it only while the test makes the engine go, and what is
// claimed, extended and ended is noted, so that the test knows when nothing is left to do.
type gate struct {
	core.WorkStore
	now     func() time.Time
	beating sync.RWMutex // held for writing while no heartbeat may be under way

	mu       sync.Mutex
	changed  chan struct{} // closed at the next change
	open     bool          // claims may pass
	only     *core.Lane    // of this lane alone, and one job; nil: any
	claiming int           // claims under way
	active   map[core.Ref]*attempt
	handlers map[*attempt]bool // that have not returned
	runs     int               // attempts claimed since begin
	err      error             // of a claim or an end since begin
}

func newGate(store core.WorkStore, now func() time.Time) *gate {
	return &gate{WorkStore: store, now: now, changed: make(chan struct{}), active: map[core.Ref]*attempt{}, handlers: map[*attempt]bool{}}
}

func (g *gate) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs, g.err = 0, nil
}

// change returns what is closed at the next change.
func (g *gate) change() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

// tell says that something changed. mu is held.
func (g *gate) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// let opens the gate, for one job of a lane or, with nil, for any.
func (g *gate) let(only *core.Lane) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open, g.only = true, only
}

// shut closes the gate and waits for the claims under way.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
	for g.claiming > 0 {
		changed := g.changed
		g.mu.Unlock()
		<-changed
		g.mu.Lock()
	}
}

// ClaimDue passes the claim on while the gate is open. Every claim looks at the whole lane: what the worker left out
// because it has seen it lately may have changed with the clock.
func (g *gate) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	none := core.ClaimResult{Taken: make([]core.Taken, len(req.Quotas)), DueIn: time.Hour}
	g.mu.Lock()
	var asked []int
	for i, q := range req.Quotas {
		none.Taken[i].LastTenant = q.TenantAfter // an answer that takes nothing ends no tenant's turn
		if g.open && (g.only == nil || g.only.Priority == q.Priority && g.only.Type == q.Type) {
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		g.mu.Unlock()
		return none, nil
	}
	g.claiming++
	g.mu.Unlock()

	passed := req
	passed.Quotas = nil
	for _, i := range asked {
		q := req.Quotas[i]
		q.After = core.Mark{}
		passed.Quotas = append(passed.Quotas, q)
	}
	res, err := g.WorkStore.ClaimDue(ctx, passed)
	g.claimed(res.Jobs, err)
	if err != nil {
		return none, err
	}
	for n, i := range asked {
		none.Taken[i] = res.Taken[n]
	}
	res.Taken = none.Taken
	return res, nil
}

func (g *gate) claimed(jobs []core.Job, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.claiming--
	g.runs += len(jobs)
	if err != nil {
		g.err = err
	}
	for _, job := range jobs {
		a := &attempt{job: job}
		g.active[a.ref()] = a
		if g.only != nil {
			g.open = false
		}
	}
	g.tell()
}

// Heartbeat notes the answers.
func (g *gate) Heartbeat(ctx context.Context, beats []core.Ref, length time.Duration) ([]core.Beat, error) {
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
	g.tell()
	return answers, nil
}

// Finish notes which attempts are over. Their errors bear the clock's time: the worker adds to the time of the claim
// what its own clock saw since, and that clock does not stand still.
func (g *gate) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	for i := range ends {
		if end := &ends[i]; (end.Outcome == core.EndRetry || end.Outcome == core.EndFail) && len(end.Errors) > 0 {
			end.Errors[len(end.Errors)-1].At = g.now()
		}
	}
	answers, err := g.WorkStore.Finish(ctx, ends)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.err = err
	}
	for i, answer := range answers {
		if !answer.Busy {
			delete(g.active, ends[i].Ref)
		}
	}
	g.tell()
	return answers, err
}

// event notes handlers that were given up after their lease was lost: nobody records an end of those.
func (g *gate) event(e core.WorkEvent) {
	if e.Kind != core.Leaked {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.active[e.Job]; a != nil && a.stale {
		delete(g.active, e.Job)
		g.tell()
	}
}

func (g *gate) entered(job *core.Job) *attempt {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.active[core.Ref{ID: job.ID, Token: job.LeaseToken}]
	if a == nil {
		a = &attempt{job: *job}
	}
	a.entered = true
	g.handlers[a] = true
	g.tell()
	return a
}

// over notes that the context of a handler has ended.
func (g *gate) over(a *attempt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a.over = true
	g.tell()
}

func (g *gate) left(a *attempt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a.returned = true
	delete(g.handlers, a)
	g.tell()
}

// attempts returns what is active, oldest job first.
func (g *gate) attempts() []*attempt {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.activeLocked()
}

func (g *gate) activeLocked() []*attempt {
	all := make([]*attempt, 0, len(g.active))
	for _, a := range g.active {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *attempt) int { return int(a.job.ID - b.job.ID) })
	return all
}

// state says whether attempts other than those going on already are under way, how many attempts hold a slot, how
// many were begun, and what went wrong.
func (g *gate) state(going []*attempt) (busy bool, slots, runs int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.active {
		if a.ending || !slices.Contains(going, a) {
			busy = true
		}
	}
	return busy, len(g.active), g.runs, g.err
}

// isEntered reports whether the handler of a job runs.
func (g *gate) isEntered(id int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.active {
		if a.job.ID == id && a.entered {
			return true
		}
	}
	return false
}

// awaitHandlers waits until all handlers have returned, and describes those that do not.
func (g *gate) awaitHandlers(patience time.Duration) string {
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
