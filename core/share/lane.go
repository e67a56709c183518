package share

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	fullRange   = time.Second // how long a lane may be claimed from its mark before the full range is claimed again
	tenantParts = 16          // a quota by tenant is first divided into this many parts
)

// laneKey identifies a lane.
type laneKey struct {
	priority core.Priority
	typ      string
}

func keyOf(l core.Lane) laneKey { return laneKey{l.Priority, l.Type} }

// lane is one priority and type, with the state of its claims.
type lane struct {
	claimant
	group    *group
	priority core.Priority
	typ      string

	busy    bool      // its last claim came back full
	askedAt time.Time // zero: never
	seenAt  time.Time // last asked or surveyed; zero: never
	dueAt   time.Time // nothing is due before; zero: not known
	taken   int       // by the current plan

	after  core.Mark // rows at or before it were claimed; zero: claim the full range
	fullAt time.Time // when the full range was last claimed

	perTenant   int // zero: rows in order of run_at
	tenantAfter string
}

func (l *lane) reset() {
	l.claimant.reset()
	l.taken = 0
}

// wanted reports whether to claim from a quiet lane: it was not seen in this round, or one of its rows is or may be due.
func (l *lane) wanted(round, now time.Time) bool {
	return l.seenAt.IsZero() || l.seenAt.Before(round) || !l.dueAt.After(now)
}

// claimQuota returns the lane's quota for a claim sent now. It drops the mark if the full range was not claimed for a while,
// because rows with a past run_at may have been committed late.
func (l *lane) claimQuota(now time.Time) core.Quota {
	if now.Sub(l.fullAt) >= fullRange {
		l.after = core.Mark{}
	}
	if l.after == (core.Mark{}) {
		l.fullAt = now
	}
	l.askedAt, l.seenAt = now, now
	q := core.Quota{Priority: l.priority, Type: l.typ, Limit: l.quota}
	if l.perTenant > 0 {
		q.PerTenant, q.TenantAfter = min(l.perTenant, l.quota), l.tenantAfter
	} else {
		q.After = l.after
	}
	return q
}

// recordTaken records the rows that a claim returned for the lane's quota. It keeps a mark only while the lane is busy: then many
// dead index entries lie before the mark, and a row that it hides for a moment would have to wait anyway.
func (l *lane) recordTaken(t core.Taken, dueAt time.Time) {
	full := t.N >= l.quota
	l.taken, l.dueAt = t.N, dueAt
	if l.perTenant > 0 {
		l.busy = l.adaptTenantShare(t, full)
	} else {
		l.busy = full
		if full && t.Tenants {
			l.perTenant, l.tenantAfter = max(l.quota/tenantParts, 1), ""
		}
	}
	switch {
	case !l.busy || l.perTenant > 0:
		l.after = core.Mark{}
	case t.Last != (core.Mark{}):
		l.after = t.Last
	}
	l.charge(t.N, l.busy)
}

// adaptTenantShare adapts how many rows a tenant gets in one claim: fewer if not all tenants had a turn, more if all had one and
// slots were left. It stops dividing by tenant when whole quotas leave slots empty. It reports whether more rows may be due.
func (l *lane) adaptTenantShare(t core.Taken, full bool) bool {
	l.tenantAfter = t.LastTenant
	switch {
	case t.Wrapped && !full && (t.N == 0 || l.perTenant >= l.quota):
		l.perTenant, l.tenantAfter = 0, ""
		return false
	case t.Wrapped && !full:
		l.perTenant = min(l.perTenant*4, core.MaxBatch)
		return true
	case !t.Wrapped && full:
		l.perTenant = max(l.perTenant/4, 1)
	}
	return full
}
