package share

import (
	"cmp"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Weights divide slots among the priorities that want them. Slots that a priority does not want go to the others.
type Weights struct {
	Critical int // Zero means 6.
	Default  int // Zero means 3.
	Bulk     int // Zero means 1.
}

// Of returns the weight of p.
func (w Weights) Of(p core.Priority) int {
	switch p {
	case core.Critical:
		return cmp.Or(w.Critical, 6)
	case core.Default:
		return cmp.Or(w.Default, 3)
	}
	return cmp.Or(w.Bulk, 1)
}

const (
	MaxQuotas  = 256                    // maximum lanes in one claim; the next claim covers others
	probePart  = 8                      // while lanes are busy, one slot in probePart claims from quiet ones
	ProbeEvery = 100 * time.Millisecond // while lanes are busy, how long a quiet one may go without a claim
)

// Shares divides free slots among lanes, claim by claim: by weight between priorities, equally between the types of a
// priority. Unused slots carry over, so that weights hold in the long run even with one slot. A lane is busy if its last
// claim came back full, and quiet otherwise. Quiet lanes leave their share to the busy ones; a few slots check whether they
// are still quiet. Shares reads no clock and is not safe for concurrent use.
type Shares struct {
	groups []*group
	lanes  []*lane // all, in order of priority and type
	asked  []*lane // lanes of the current plan
	round  time.Time

	surveyed bool // claim from quiet lanes only if they are known to have due rows
}

// group holds the lanes of one priority.
type group struct {
	claimant
	priority core.Priority
	lanes    []*lane
	reserved int // slots of the current plan that only critical jobs may use
}

// claimant is one party in a division.
type claimant struct {
	weight float64
	owed   float64 // slots not yet received; negative: received in advance
	added  float64 // slots that the current plan added to owed
	quota  int     // of the current plan
}

// New returns the Shares of all lanes of these types and priorities; no priorities mean all.
func New(types []string, weights Weights, priorities ...core.Priority) *Shares {
	s := &Shares{}
	for _, p := range core.Priorities {
		if len(priorities) > 0 && !slices.Contains(priorities, p) {
			continue
		}
		s.groups = append(s.groups, &group{claimant: claimant{weight: float64(weights.Of(p))}, priority: p})
	}
	s.SetTypes(types)
	return s
}

// SetTypes replaces the lanes by those of these types, and keeps the state of lanes that remain. Every plan must have been
// answered by RecordTaken or Forget.
func (s *Shares) SetTypes(types []string) {
	types = slices.Compact(slices.Sorted(slices.Values(types)))
	s.lanes, s.surveyed = nil, false
	for _, g := range s.groups {
		before := make(map[string]*lane, len(g.lanes))
		for _, l := range g.lanes {
			before[l.typ] = l
		}
		g.lanes = make([]*lane, len(types))
		for i, t := range types {
			if g.lanes[i] = before[t]; g.lanes[i] == nil {
				g.lanes[i] = &lane{claimant: claimant{weight: 1}, group: g, priority: g.priority, typ: t}
			}
		}
		s.lanes = append(s.lanes, g.lanes...)
	}
}

// Begin starts a round: every lane is claimed from once more, even if it was empty before.
func (s *Shares) Begin(now time.Time) { s.round = now }

// Due returns how long no claim is needed, at most limit: 0 while a lane is busy or was not claimed from in this round. With
// criticalOnly it ignores the other lanes, because no slot is free for them.
func (s *Shares) Due(now time.Time, limit time.Duration, criticalOnly bool) time.Duration {
	for _, l := range s.lanes {
		if criticalOnly && l.priority != core.Critical {
			continue
		}
		if l.busy || l.wanted(s.round, now) {
			return 0
		}
		limit = min(limit, l.dueAt.Sub(now))
	}
	return limit
}

// Survey records which lanes have waiting rows at now. The others need no claim in this round, or as long as surveys go on.
func (s *Shares) Survey(waiting []core.Lane, now time.Time) {
	due := make(map[laneKey]time.Time, len(waiting))
	for _, l := range waiting {
		due[keyOf(l)] = now.Add(l.DueIn)
	}
	for _, l := range s.lanes {
		if l.seenAt = now; l.busy {
			continue
		}
		at, ok := due[laneKey{l.priority, l.typ}]
		if !ok {
			at = now.Add(time.Hour)
		}
		l.dueAt = at
	}
	s.surveyed = true
}

// Surveyed reports whether Survey was called since the types were set.
func (s *Shares) Surveyed() bool { return s.surveyed }

// Lanes returns the number of lanes.
func (s *Shares) Lanes() int { return len(s.lanes) }

// Busy reports whether a lane is known to have more due rows than were claimed.
func (s *Shares) Busy() bool {
	return slices.ContainsFunc(s.lanes, func(l *lane) bool { return l.busy })
}

// Plan divides free slots into the quotas of one claim; reserved of them are for critical jobs only. Call RecordTaken or
// Forget before the next Plan.
func (s *Shares) Plan(now time.Time, free, reserved int) []core.Quota {
	reserved = min(max(reserved, 0), max(free, 0))
	open := max(free, 0) - reserved
	for _, g := range s.groups {
		g.reset()
		g.reserved = 0
		for _, l := range g.lanes {
			l.reset()
		}
	}

	takers := s.pick(func(l *lane) bool { return l.busy })
	var probes []*lane // get one slot each, before the takers share the rest
	if len(takers) == 0 {
		takers = s.pick(func(l *lane) bool { return l.wanted(s.round, now) })
		probes = takers[:min(len(takers), open)]
	} else {
		probes = s.pick(func(l *lane) bool {
			if s.surveyed {
				return !l.busy && l.wanted(s.round, now)
			}
			return !l.busy && (l.askedAt.Before(s.round) || now.Sub(l.askedAt) >= ProbeEvery)
		})
		probes = probes[:min(len(probes), max(open/probePart, min(open, 1)))]
	}
	s.share(now, takers, open-len(probes), reserved)
	for _, l := range probes {
		l.quota++
	}
	return s.claimQuota(now)
}

// pick returns the lanes for which so returns true, at most MaxQuotas; those that have waited longest for a claim come
// first.
func (s *Shares) pick(so func(*lane) bool) []*lane {
	var picked []*lane
	for _, l := range s.lanes {
		if so(l) {
			picked = append(picked, l)
		}
	}
	slices.SortStableFunc(picked, func(a, b *lane) int { return a.askedAt.Compare(b.askedAt) })
	return picked[:min(len(picked), MaxQuotas)]
}

// share divides open slots among the takers' groups, and each group's slots among its takers. Reserved slots go to critical
// lanes even if these are not takers, because no other lane may use them.
func (s *Shares) share(now time.Time, takers []*lane, open, reserved int) {
	var groups []*claimant
	of := map[*group][]*claimant{}
	for _, l := range takers {
		of[l.group] = append(of[l.group], &l.claimant)
	}
	for _, g := range s.groups {
		if len(of[g]) > 0 {
			groups = append(groups, &g.claimant)
		}
	}
	divide(open, groups)
	critical := s.groups[0] // the most urgent; if the worker takes no critical jobs, nothing is reserved
	critical.reserved = reserved
	if reserved > 0 && len(of[critical]) == 0 {
		for _, l := range critical.lanes {
			if len(of[critical]) < MaxQuotas && (!s.surveyed || l.wanted(s.round, now)) {
				of[critical] = append(of[critical], &l.claimant)
			}
		}
	}
	for _, g := range s.groups {
		divide(g.quota+g.reserved, of[g])
	}
}

// claimQuota returns the lanes' quotas for a claim.
func (s *Shares) claimQuota(now time.Time) []core.Quota {
	s.asked = s.asked[:0]
	var quotas []core.Quota
	for _, l := range s.lanes {
		if l.quota > 0 {
			quotas = append(quotas, l.claimQuota(now))
			s.asked = append(s.asked, l)
		}
	}
	return quotas
}

// RecordTaken records the answer to the current plan: the rows claimed for each quota, and when the next row of these lanes
// is due by the local clock, or zero if that is not known.
func (s *Shares) RecordTaken(taken []core.Taken, dueAt time.Time) {
	for i, l := range s.asked {
		if i < len(taken) {
			l.recordTaken(taken[i], dueAt)
		}
	}
	for _, g := range s.groups {
		n, busy := 0, false
		for _, l := range g.lanes {
			n += l.taken
			busy = busy || l.busy
		}
		g.charge(max(n-g.reserved, 0), busy)
	}
	s.asked = s.asked[:0]
}

// Forget drops the current plan because its claim failed. No lane is charged.
func (s *Shares) Forget() {
	for _, g := range s.groups {
		g.owed -= g.added
		for _, l := range g.lanes {
			l.owed -= l.added
		}
	}
	s.asked = s.asked[:0]
}

func (c *claimant) reset() { c.added, c.quota = 0, 0 }

// charge charges n claimed slots. A claimant that is not busy loses its owed slots.
func (c *claimant) charge(n int, busy bool) {
	c.owed -= float64(n)
	if !busy {
		c.owed = 0
	}
}

// divide adds to each claimant's owed its share of n by weight, and turns that into whole quotas that add up to n.
func divide(n int, parties []*claimant) {
	if n <= 0 || len(parties) == 0 {
		return
	}
	weight, sum := 0.0, 0.0
	for _, c := range parties {
		weight += c.weight
	}
	for _, c := range parties {
		c.added = float64(n) * c.weight / weight
		c.owed += c.added
		sum += c.owed
	}
	// claimants come and go with their owed slots: the rest must balance among those present
	excess, positive := (sum-float64(n))/float64(len(parties)), 0.0
	for _, c := range parties {
		c.owed -= excess
		positive += max(c.owed, 0)
	}
	rest := n
	for _, c := range parties {
		c.quota = int(max(c.owed, 0) * float64(n) / positive)
		rest -= c.quota
	}
	byRemainder := slices.Clone(parties)
	slices.SortStableFunc(byRemainder, func(a, b *claimant) int {
		return cmp.Compare(b.owed-float64(b.quota), a.owed-float64(a.quota))
	})
	for i := 0; rest > 0; i++ {
		byRemainder[i%len(byRemainder)].quota++
		rest--
	}
}
