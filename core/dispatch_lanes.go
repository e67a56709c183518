package core

import (
	"time"
)

// lanePlan remembers the lanes that wait, as the last pass found them, and shares credit among them.
type lanePlan struct {
	lanes []Lane
	full  map[laneKey]bool    // lanes with more due rows than they were given
	order map[laneKey]tenancy // how a lane's rows are taken
	turn  int                 // whose lane gets the odd slot first
}

type laneKey struct {
	priority Priority
	typ      string
}

// tenancy is where a lane's round among tenants stands. Until rows with a tenant are seen there is none.
type tenancy struct {
	tenants bool
	after   string
}

func (l Lane) key() laneKey { return laneKey{l.Priority, l.Type} }

// quotas shares limit among the priorities that have credit and due lanes, by weight, and each priority's
// share evenly among its due lanes, the odd slots in turn.
func (l *lanePlan) quotas(credits map[Priority]int, limit int, elapsed time.Duration) []Quota {
	due := map[Priority][]laneKey{}
	for _, lane := range l.lanes {
		if lane.DueIn <= elapsed {
			due[lane.Priority] = append(due[lane.Priority], lane.key())
		}
	}
	var wants [len(Priorities)]int
	for i, p := range Priorities {
		if len(due[p]) > 0 {
			wants[i] = credits[p]
		}
	}
	l.turn++
	var quotas []Quota
	for i, share := range shareByWeight(limit, wants) {
		lanes := due[Priorities[i]]
		for j := range lanes {
			n := share / len(lanes)
			if j < share%len(lanes) {
				n++
			}
			if n == 0 {
				break
			}
			quotas = append(quotas, l.quota(lanes[(j+l.turn)%len(lanes)], n))
		}
	}
	return quotas
}

// quota asks for n rows of one lane. Where tenants wait, each gets an equal part of what is asked, at least
// one row, beginning after the tenant the last pass ended with.
func (l *lanePlan) quota(key laneKey, n int) Quota {
	q := Quota{Priority: key.priority, Type: key.typ, Limit: n}
	if at := l.order[key]; at.tenants {
		q.PerTenant, q.TenantAfter = max(1, n/tenantsPerPass), at.after
	}
	return q
}

// tenantsPerPass is how many tenants one quota is meant to reach.
const tenantsPerPass = 100

// learn takes in what a pass found: which lanes wait, and which were given less than they had due.
func (l *lanePlan) learn(quotas []Quota, res TickResult) {
	l.lanes, l.full = res.Waiting, map[laneKey]bool{}
	given := map[laneKey]bool{}
	order := map[laneKey]tenancy{}
	for i, t := range res.Taken {
		q := quotas[i]
		key := laneKey{q.Priority, q.Type}
		given[key] = true
		// Rows of one lane may be spread over more tenants than one round visits.
		l.full[key] = t.N >= q.Limit || (q.PerTenant > 0 && t.N > 0)
		if t.Tenants || (q.PerTenant > 0 && t.N > 0) {
			order[key] = tenancy{tenants: true, after: t.LastTenant}
		}
	}
	for _, lane := range l.lanes {
		if lane.DueIn <= 0 && !given[lane.key()] {
			l.full[lane.key()] = true
			if at, ok := l.order[lane.key()]; ok {
				order[lane.key()] = at
			}
		}
	}
	l.order = order
}

// backlog reports whether a priority has due rows that the last pass left.
func (l *lanePlan) backlog(p Priority) bool {
	for key, full := range l.full {
		if full && key.priority == p {
			return true
		}
	}
	return false
}

// nextDue is when the first lane that is not due yet will be, at most limit.
func (l *lanePlan) nextDue(limit time.Duration) time.Duration {
	next := limit
	for _, lane := range l.lanes {
		if lane.DueIn > 0 {
			next = min(next, lane.DueIn)
		}
	}
	return next
}

// shareByWeight divides total among priorities by weight, none more than it wants; what one leaves goes to the
// others. Whatever total is, each that wants something gets something, as long as there is one for each.
func shareByWeight(total int, wants [len(Priorities)]int) (shares [len(Priorities)]int) {
	for total > 0 {
		weights := 0
		for i, p := range Priorities {
			if shares[i] < wants[i] {
				weights += Weights{}.of(p)
			}
		}
		if weights == 0 {
			break
		}
		round := total
		for i, p := range Priorities {
			if shares[i] < wants[i] {
				n := min(total, wants[i]-shares[i], max(1, round*Weights{}.of(p)/weights))
				shares[i] += n
				total -= n
			}
		}
	}
	return shares
}
