package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// ClaimDue makes due rows of the quotas running, in one transaction and one round trip; see core.WorkStore.
// Rows that were due and may not run are ended by one further transaction, before it returns. Where a row raises an error
// its lane is claimed apart from the others.
func (s *Store) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	all := len(req.Quotas)
	open, places := s.closed.open(req.Quotas)
	req.Quotas = open
	result, err := s.claim(ctx, req)
	if errors.Is(err, core.ErrRow) {
		result, err = s.claimApart(ctx, req)
	}
	if err != nil {
		return core.ClaimResult{}, err
	}
	result.Taken = spread(result.Taken, places, all)
	return result, nil
}

func (s *Store) claim(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	var result core.ClaimResult
	c := newClaim(req.Quotas)
	calls := c.calls(s, "claim_due", func() *wire.Args {
		return s.args(8).Interval(req.Lease).Text(req.WorkerID).Int8(req.ClaimID)
	})
	var next time.Time
	calls = append([]wire.Call{s.guard(s.opts.LockTimeout)}, calls...)
	calls = append(calls, s.nextDue(req.Quotas, &result.Now, &next))
	if err := s.run(ctx, "claim due", calls...); err != nil {
		return core.ClaimResult{}, err
	}
	result.Jobs, result.Taken = c.jobs, c.taken
	for i := range result.Jobs {
		j := &result.Jobs[i]
		j.Status, j.LeaseUntil = core.Running, result.Now.Add(req.Lease)
	}
	c.order(result.Jobs)
	if !c.exhausted() {
		result.DueIn = dueIn(result.Now, next)
	}
	_, _ = s.endRefused(ctx, c.refused, nil) // the jobs are claimed all the same; the next claim meets these rows again
	return result, nil
}

// Waiting returns the lanes that have scheduled rows.
func (s *Store) Waiting(ctx context.Context) ([]core.Lane, error) {
	var lanes []core.Lane
	var now time.Time
	err := s.repeat(ctx, "waiting", s.guard(s.opts.LockTimeout),
		s.sql.call("now", s.args(0), func(r wire.Row) error {
			now = r.Time(0)
			return nil
		}),
		s.sql.call("waiting"+ofAllSuffix, s.args(0), func(r wire.Row) error {
			if p := core.Priority(r.Int(0)); p.Valid() { // else damaged
				lanes = append(lanes, core.Lane{Priority: p, Type: r.Text(1), DueIn: r.Time(2).Sub(now)})
			}
			return nil
		}))
	return lanes, err
}

// maxDueIn bounds ClaimResult.DueIn.
const maxDueIn = time.Hour

func dueIn(now, next time.Time) time.Duration {
	if next.IsZero() || next.Sub(now) > maxDueIn {
		return maxDueIn
	}
	return max(next.Sub(now), 0)
}

func (s *Store) nextDue(quotas []core.Quota, now, next *time.Time) wire.Call {
	a := s.args(2)
	wire.Int2s(a, quotas, func(q *core.Quota) int16 { return int16(q.Priority) })
	wire.Texts(a, quotas, func(q *core.Quota) string { return q.Type })
	return s.sql.call("next_due", a, func(r wire.Row) error {
		*now, *next = r.Time(0), r.Time(1)
		return nil
	})
}

// endRefused ends rows a claim or a start refused, or whose time has passed, and says how many. One that changed meanwhile,
// or is locked, is left; one that raises an error is set apart. types, if not nil, are theirs.
func (s *Store) endRefused(ctx context.Context, refs []core.Ref, types map[int64]string) (n int, err error) {
	err = apart.Halve(ctx, refs, func(part []core.Ref) error {
		ended, err := s.endAll(ctx, part)
		n += ended
		return err
	}, func(ref core.Ref, err error) error {
		return s.setApartJob(ctx, ref.ID, types[ref.ID], "end", err)
	})
	return n, err
}

// endAll ends rows that may not run, all of them or none.
func (s *Store) endAll(ctx context.Context, refs []core.Ref) (n int, err error) {
	err = s.noting(ctx, "end", func(notes string) error {
		return endVia(func(suffix string) []wire.Call {
			return []wire.Call{s.guard(s.opts.LockTimeout), s.sql.call("end_refused"+suffix+notes, refArgs(s.args(4), refs).Int8(core.MaxErrors).Text(core.NoAttemptText), func(wire.Row) error {
				n++
				return nil
			})}
		}, func(calls ...wire.Call) error { return s.send(ctx, calls...) })
	})
	return n, wrap("end refused", err)
}

// collect appends the ids that a statement answers with.
func collect(ids *[]int64) func(wire.Row) error {
	return func(r wire.Row) error {
		*ids = append(*ids, r.Int(0))
		return nil
	}
}

// refArgs adds two arrays: ids and tokens.
func refArgs(a *wire.Args, refs []core.Ref) *wire.Args {
	wire.Int8s(a, refs, func(r *core.Ref) int64 { return r.ID })
	return wire.Int8s(a, refs, func(r *core.Ref) int64 { return r.Token })
}

// claim gathers the rows of one claim, whose quotas are read by two statements: in order of time, and tenant by tenant.
type claim struct {
	quotas  []core.Quota
	lanes   map[lane]int // quota of a lane
	taken   []core.Taken
	jobs    []core.Job
	refused []core.Ref
	room    int // all limits together
}

type lane struct {
	priority core.Priority
	typ      string
}

func newClaim(quotas []core.Quota) *claim {
	c := &claim{quotas: quotas, lanes: make(map[lane]int, len(quotas)), taken: make([]core.Taken, len(quotas))}
	for i := len(quotas) - 1; i >= 0; i-- {
		c.lanes[lane{quotas[i].Priority, quotas[i].Type}] = i
		c.room += max(quotas[i].Limit, 0)
	}
	return c
}

// calls are the statements of the claim, name and name_by_tenant, each with the parameters of common first. Quotas of jobs
// with targets have statements of their own, so that the others cost what they cost without them.
func (c *claim) calls(s *Store, name string, common func() *wire.Args) (calls []wire.Call) {
	for _, targeted := range []bool{false, true} {
		var byTime, byTenant []core.Quota
		var tenantQuotas []int
		for i, q := range c.quotas {
			switch {
			case q.Targeted != targeted:
			case q.PerTenant > 0:
				c.taken[i].Wrapped = true // unless the statement says otherwise: there may be no tenant to visit
				byTenant = append(byTenant, q)
				tenantQuotas = append(tenantQuotas, i)
			default:
				byTime = append(byTime, q)
			}
		}
		suffix := ""
		if targeted {
			suffix = targetedSuffix
		}
		if len(byTime) > 0 {
			a := laneArgs(common(), byTime)
			wire.TimesOrPast(a, byTime, func(q *core.Quota) time.Time { return q.After.RunAt })
			wire.Int8s(a, byTime, func(q *core.Quota) int64 { return q.After.ID })
			calls = append(calls, s.sql.call(name+suffix, a, func(r wire.Row) error { return c.read(r, nil) }))
		}
		if len(byTenant) > 0 {
			a := laneArgs(common(), byTenant)
			wire.Int8s(a, byTenant, func(q *core.Quota) int64 { return int64(q.PerTenant) })
			wire.Texts(a, byTenant, func(q *core.Quota) string { return q.TenantAfter })
			calls = append(calls, s.sql.call(name+"_by_tenant"+suffix, a, func(r wire.Row) error { return c.read(r, tenantQuotas) }))
		}
	}
	return calls
}

func laneArgs(a *wire.Args, quotas []core.Quota) *wire.Args {
	wire.Int2s(a, quotas, func(q *core.Quota) int16 { return int16(q.Priority) })
	wire.Texts(a, quotas, func(q *core.Quota) string { return q.Type })
	return wire.Int8s(a, quotas, func(q *core.Quota) int64 { return int64(q.Limit) })
}

// The kinds of rows a claim returns, and the columns after the kind.
const (
	kindClaimed = 0
	kindRefused = 1
	kindVisits  = 2
)

// read takes one row. quotas are those of the statement by tenant, in its order.
func (c *claim) read(r wire.Row, quotas []int) error {
	kind, r := r.Int(0), r[1:]
	if kind == kindVisits {
		at := quotas[r.Int(colID)-1]
		c.taken[at].LastTenant = r.Text(colTenant)
		c.taken[at].Wrapped = r.Int(colLeaseToken) < int64(c.quotas[at].Limit)
		return nil
	}
	if kind == kindRefused {
		var j core.Job
		record(&j, r, &core.Job{})
		c.count(&j)
		c.refused = append(c.refused, core.Ref{ID: j.ID, Token: j.LeaseToken})
		return nil
	}
	if c.jobs == nil {
		c.jobs = make([]core.Job, 0, min(c.room, maxRoom))
	}
	c.jobs = appendRecord(c.jobs, r)
	c.count(&c.jobs[len(c.jobs)-1])
	return nil
}

// maxRoom bounds the room made for a claim's jobs before it is known how many come.
const maxRoom = 2048

// count adds a row to the answer of its quota.
func (c *claim) count(j *core.Job) {
	at := c.lanes[lane{j.Priority, j.Type}]
	c.taken[at].N++
	if j.Tenant != "" {
		c.taken[at].Tenants = true
	}
	c.mark(at, j)
}

// mark moves the quota's last mark to the job, where it lies further and has no tenant.
func (c *claim) mark(at int, j *core.Job) {
	if j.Tenant != "" || c.quotas[at].PerTenant > 0 {
		return
	}
	last := &c.taken[at].Last
	if d := j.RunAt.Compare(last.RunAt); last.ID == 0 || d > 0 || d == 0 && j.ID > last.ID {
		*last = core.Mark{RunAt: j.RunAt, ID: j.ID}
	}
}

// order puts jobs in the order of the quotas, each in order of run_at. They mostly come so.
func (c *claim) order(jobs []core.Job) {
	for i := 1; i < len(jobs); i++ {
		if c.compare(&jobs[i-1], &jobs[i]) > 0 {
			slices.SortFunc(jobs, func(a, b core.Job) int { return c.compare(&a, &b) })
			return
		}
	}
}

func (c *claim) compare(a, b *core.Job) int {
	if a.Priority != b.Priority || a.Type != b.Type {
		return cmp.Compare(c.lanes[lane{a.Priority, a.Type}], c.lanes[lane{b.Priority, b.Type}])
	}
	return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
}

// exhausted reports whether a quota's limit was reached, so that more may be due.
func (c *claim) exhausted() bool {
	for i, q := range c.quotas {
		if c.taken[i].N >= q.Limit || q.PerTenant > 0 && !c.taken[i].Wrapped {
			return true
		}
	}
	return false
}
