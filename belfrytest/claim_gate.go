package belfrytest

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// claimGate is the worker's store. It passes claims on only while the test drives the engine, and notes what is claimed,
// extended and ended, so that the test knows when nothing is left to do.
type claimGate struct {
	core.WorkStore
	now     func() time.Time
	beating sync.RWMutex // held for writing while no heartbeat may be under way

	mu       sync.Mutex
	changed  chan struct{} // closed at the next change
	open     bool          // claims may pass
	only     *core.Lane    // of this lane alone, and one job; nil: any
	claiming int           // claims under way
	active   map[core.Ref]*attempt
	handlers map[*attempt]bool // handlers that have not returned
	runs     int               // attempts claimed since begin
	steps    int               // rises whenever an attempt makes progress
	err      error             // of a claim or an end since begin
}

func newClaimGate(store core.WorkStore, now func() time.Time) *claimGate {
	return &claimGate{WorkStore: store, now: now, changed: make(chan struct{}), active: map[core.Ref]*attempt{}, handlers: map[*attempt]bool{}}
}

func (g *claimGate) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs, g.err = 0, nil
}

// change returns what is closed at the next change.
func (g *claimGate) change() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

// tell says that something changed. mu is held.
func (g *claimGate) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// step says that an attempt came further. mu is held.
func (g *claimGate) step() {
	g.steps++
	g.tell()
}

// let opens the claimGate, for one job of a lane or, with nil, for any. It stays as it is where something has changed
// since seen was returned by change: the lane was chosen from what is no longer so.
func (g *claimGate) let(only *core.Lane, seen <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed == seen {
		g.open, g.only = true, only
	}
}

// shut closes the claimGate and waits for the claims under way.
func (g *claimGate) shut() {
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

// ClaimDue passes the claim on while the claimGate is open. Every claim looks at the whole lane: what the worker left out
// because it has seen it lately may have changed with the clock.
func (g *claimGate) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
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

func (g *claimGate) claimed(jobs []core.Job, err error) {
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
		g.steps++
	}
	g.tell()
}
