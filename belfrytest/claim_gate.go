package belfrytest

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// claimGate is the worker's store. It passes claims on only while the test drives the engine. It records claims, extensions
// and ends, so that the test knows when nothing is left to do.
type claimGate struct {
	core.WorkStore
	now     func() time.Time
	beating sync.RWMutex // locked for writing to keep heartbeats out

	mu       sync.Mutex
	changed  chan struct{} // closed at the next change
	open     bool          // claims are passed on
	only     *core.Lane    // claim only one job of this lane; nil: any job
	claiming int           // claims in progress
	active   map[core.Ref]*attempt
	handlers map[*attempt]bool // handlers that have not returned
	runs     int               // attempts claimed since begin was called
	steps    int               // rises whenever an attempt makes progress
	err      error             // error of a claim or an end since begin was called
}

func newClaimGate(store core.WorkStore, now func() time.Time) *claimGate {
	return &claimGate{WorkStore: store, now: now, changed: make(chan struct{}), active: map[core.Ref]*attempt{}, handlers: map[*attempt]bool{}}
}

func (g *claimGate) resetCounts() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs, g.err = 0, nil
}

// change returns a channel that is closed at the next change.
func (g *claimGate) change() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

// announceChange announces a change. The caller holds mu.
func (g *claimGate) announceChange() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// recordProgress records that an attempt made progress. The caller holds mu.
func (g *claimGate) recordProgress() {
	g.steps++
	g.announceChange()
}

// openFor opens the claimGate, for one job of a lane or, with nil, for any job. If something has changed since change returned
// seen, it does nothing: the lane was chosen from an outdated state.
func (g *claimGate) openFor(only *core.Lane, seen <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed == seen {
		g.open, g.only = true, only
	}
}

// closeAndWait closes the claimGate and waits for the claims in progress.
func (g *claimGate) closeAndWait() {
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

// ClaimDue passes a claim on while the claimGate is open. It claims from the whole lane: rows that the worker skips because
// it saw them recently may have become due when the clock was advanced.
func (g *claimGate) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	none := core.ClaimResult{Taken: make([]core.Taken, len(req.Quotas)), DueIn: time.Hour}
	g.mu.Lock()
	var asked []int
	for i, q := range req.Quotas {
		none.Taken[i].LastTenant = q.TenantAfter // no tenant's turn ends with an empty answer
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
	g.announceChange()
}
