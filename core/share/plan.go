package share

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// LanePlan remembers the waiting lanes that the last pass found, and divides credit among them.
type LanePlan struct {
	waiting []core.Lane
	lanes   map[laneKey]*lane // state of each lane: its mark, its tenants' turn, its credit
	unasked map[laneKey]bool  // due lanes that the last pass did not ask for
	asked   []*lane           // lanes of the current pass, one per quota
	Groups  queuegroup.Groups
	first   int // rises by one per pass, so that another queue of each priority gets the first slots
}

// Quotas divides limit by weight among the priorities that have credit and due lanes. Each priority's share is divided
// equally among its queues, up to each queue's credit. Each queue's share is divided equally among its due lanes. If there
// are too many lanes, those that have waited longest for a claim come first.
func (l *LanePlan) Quotas(credits map[queuegroup.Key]int, limit int, now time.Time, elapsed time.Duration) []core.Quota {
	queues := make([]dueQueue, (len(l.Groups.Names())+1)*len(core.Priorities))
	var wants [len(core.Priorities)]int
	var among [len(core.Priorities)]int
	for _, w := range l.waiting {
		if w.DueIn > elapsed || !w.Priority.Valid() {
			continue
		}
		q := &queues[queuegroup.IndexOf(w.Priority, l.Groups.NumberOf(w.Type))]
		if len(q.lanes) == 0 {
			q.credit = credits[l.Groups.KeyOf(w.Priority, w.Type)]
			wants[w.Priority-1] += q.credit
			among[w.Priority-1]++
		}
		q.lanes = append(q.lanes, l.lane(keyOf(w)))
	}
	l.asked = l.asked[:0]
	var quotas []core.Quota
	l.first++
	for i, share := range shareByWeight(limit, wants) {
		if among[i] == 0 {
			continue
		}
		of := queuesOfPriority(queues, i, len(core.Priorities))
		shareEqually(share, of, l.first)
		for _, q := range of {
			quotas = l.divideQueue(quotas, q, max(1, MaxQuotas/among[i]), now)
		}
	}
	return quotas
}

// dueQueue holds the lanes of one queue that have due rows.
type dueQueue struct {
	lanes         []*lane
	credit, share int
}

// queuesOfPriority returns the queues of one priority.
func queuesOfPriority(queues []dueQueue, first, n int) (of []*dueQueue) {
	for i := first; i < len(queues); i += n {
		if len(queues[i].lanes) > 0 {
			of = append(of, &queues[i])
		}
	}
	return of
}

// divideQueue appends the quotas of at most maxLanes of a queue's lanes.
func (l *LanePlan) divideQueue(quotas []core.Quota, q *dueQueue, maxLanes int, now time.Time) []core.Quota {
	slices.SortStableFunc(q.lanes, func(a, b *lane) int { return a.askedAt.Compare(b.askedAt) })
	lanes := q.lanes[:min(len(q.lanes), maxLanes)]
	parties := make([]*claimant, len(lanes))
	for j, lane := range lanes {
		lane.reset()
		parties[j] = &lane.claimant
	}
	divide(q.share, parties)
	for _, lane := range lanes {
		if lane.quota > 0 {
			l.asked = append(l.asked, lane)
			quotas = append(quotas, lane.claimQuota(now))
		}
	}
	return quotas
}

// shareEqually divides total equally among queues, up to each queue's credit, and gives what is left to the others. The
// rounds begin at queues[first % len(queues)], so that another queue comes first in the next pass.
func shareEqually(total int, queues []*dueQueue, first int) {
	for total > 0 {
		open := 0
		for _, q := range queues {
			if q.share < q.credit {
				open++
			}
		}
		if open == 0 {
			return
		}
		part := max(1, total/open)
		for i := range queues {
			q := queues[(first+i)%len(queues)]
			n := min(total, part, q.credit-q.share)
			q.share += n
			total -= n
		}
	}
}

func (l *LanePlan) lane(key laneKey) *lane {
	if l.lanes[key] == nil {
		if l.lanes == nil {
			l.lanes = map[laneKey]*lane{}
		}
		l.lanes[key] = &lane{claimant: claimant{weight: 1}, priority: key.priority, typ: key.typ}
	}
	return l.lanes[key]
}

// Learn records the result of a pass: the lanes with waiting rows, and those that got fewer rows than are due.
func (l *LanePlan) Learn(res core.TickResult, now time.Time) {
	kept, unasked := map[laneKey]*lane{}, map[laneKey]bool{}
	asked := map[laneKey]bool{}
	for i, lane := range l.asked {
		if i < len(res.Taken) {
			lane.recordTaken(res.Taken[i], now)
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

// RecordCreated records lanes with jobs that were created since the last pass and whose types are published. The next pass claims
// from these lanes too.
func (l *LanePlan) RecordCreated(lanes []core.Lane) {
	for _, m := range lanes {
		if i := slices.IndexFunc(l.waiting, func(w core.Lane) bool { return keyOf(w) == keyOf(m) }); i >= 0 {
			l.waiting[i].DueIn = min(l.waiting[i].DueIn, 0)
		} else {
			l.waiting = append(l.waiting, m)
		}
	}
}

// Backlogs returns the queues that still have due rows after the last pass.
func (l *LanePlan) Backlogs() map[queuegroup.Key]bool {
	backlogs := map[queuegroup.Key]bool{}
	for key, lane := range l.lanes {
		if lane.busy {
			backlogs[l.Groups.KeyOf(key.priority, key.typ)] = true
		}
	}
	for key := range l.unasked {
		backlogs[l.Groups.KeyOf(key.priority, key.typ)] = true
	}
	return backlogs
}

// NextDue returns the time until the next lane is due, at most limit.
func (l *LanePlan) NextDue(limit time.Duration) time.Duration {
	next := limit
	for _, lane := range l.waiting {
		if lane.DueIn > 0 {
			next = min(next, lane.DueIn)
		}
	}
	return next
}

// shareByWeight divides total among priorities by weight, up to each one's want, and gives what is left to the others. Every
// priority that wants something gets at least one if there are enough.
func shareByWeight(total int, wants [len(core.Priorities)]int) (shares [len(core.Priorities)]int) {
	for total > 0 {
		weights := 0
		for i, p := range core.Priorities {
			if shares[i] < wants[i] {
				weights += Weights{}.Of(p)
			}
		}
		if weights == 0 {
			break
		}
		round := total
		for i, p := range core.Priorities {
			if shares[i] < wants[i] {
				n := min(total, wants[i]-shares[i], max(1, round*Weights{}.Of(p)/weights))
				shares[i] += n
				total -= n
			}
		}
	}
	return shares
}
