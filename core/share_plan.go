package core

import (
	"slices"
	"time"
)

// lanePlan remembers the lanes that wait, as the last pass found them, and shares credit among them.
type lanePlan struct {
	waiting []Lane
	lanes   map[laneKey]*lane // how each is taken: its mark, its turn among tenants, what it is owed
	unasked map[laneKey]bool  // due, and the last pass asked for none of them
	asked   []*lane           // of the pass that is out, one per quota
}

// quotas shares limit among the priorities that have credit and due lanes, by weight, and each priority's
// share equally among its due lanes, those longest unasked first where there are too many.
func (l *lanePlan) quotas(credits map[Priority]int, limit int, now time.Time, elapsed time.Duration) []Quota {
	var due [len(Priorities)][]*lane
	var wants [len(Priorities)]int
	for _, w := range l.waiting {
		if w.DueIn <= elapsed && w.Priority.Valid() {
			due[w.Priority-1] = append(due[w.Priority-1], l.lane(keyOf(w)))
			wants[w.Priority-1] = credits[w.Priority]
		}
	}
	l.asked = l.asked[:0]
	var quotas []Quota
	for i, share := range shareByWeight(limit, wants) {
		slices.SortStableFunc(due[i], func(a, b *lane) int { return a.askedAt.Compare(b.askedAt) })
		lanes := due[i][:min(len(due[i]), maxQuotas)]
		parties := make([]*claimant, len(lanes))
		for j, lane := range lanes {
			lane.reset()
			parties[j] = &lane.claimant
		}
		divide(share, parties)
		for _, lane := range lanes {
			if lane.quota > 0 {
				l.asked = append(l.asked, lane)
				quotas = append(quotas, lane.ask(now))
			}
		}
	}
	return quotas
}

func (l *lanePlan) lane(key laneKey) *lane {
	if l.lanes[key] == nil {
		if l.lanes == nil {
			l.lanes = map[laneKey]*lane{}
		}
		l.lanes[key] = &lane{claimant: claimant{weight: 1}, priority: key.priority, typ: key.typ}
	}
	return l.lanes[key]
}

// learn takes in what a pass found: which lanes wait, and which were given less than they had due.
func (l *lanePlan) learn(res TickResult, now time.Time) {
	kept, unasked := map[laneKey]*lane{}, map[laneKey]bool{}
	asked := map[laneKey]bool{}
	for i, lane := range l.asked {
		if i < len(res.Taken) {
			lane.took(res.Taken[i], now)
			asked[laneKey{lane.priority, lane.typ}] = true
		}
	}
	for _, w := range res.Waiting {
		key := keyOf(w)
		if lane := l.lanes[key]; lane != nil {
			kept[key] = lane
			lane.busy = lane.busy && w.DueIn <= 0
		}
		if w.DueIn <= 0 && !asked[key] {
			unasked[key] = true
		}
	}
	l.waiting, l.lanes, l.unasked, l.asked = res.Waiting, kept, unasked, l.asked[:0]
}

// made takes in lanes in which jobs were made since the last pass: the next one asks for them, without having found them
// first.
func (l *lanePlan) made(lanes []Lane) {
	for _, m := range lanes {
		if i := slices.IndexFunc(l.waiting, func(w Lane) bool { return keyOf(w) == keyOf(m) }); i >= 0 {
			l.waiting[i].DueIn = min(l.waiting[i].DueIn, 0)
		} else {
			l.waiting = append(l.waiting, m)
		}
	}
}

// backlog reports whether a priority has due rows that the last pass left.
func (l *lanePlan) backlog(p Priority) bool {
	for key, lane := range l.lanes {
		if key.priority == p && lane.busy {
			return true
		}
	}
	for key := range l.unasked {
		if key.priority == p {
			return true
		}
	}
	return false
}

// nextDue is when the first lane that is not due yet will be, at most limit.
func (l *lanePlan) nextDue(limit time.Duration) time.Duration {
	next := limit
	for _, lane := range l.waiting {
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
