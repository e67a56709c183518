package recurrence

import (
	"math"
	"time"
)

// Instants before and after all others.
const (
	longAgo  = math.MinInt64 / 2
	farAhead = math.MaxInt64 / 2
)

// planner carries one call of Plan. Instants are in the rule's unit.
type planner struct {
	rule     *Rule
	policy   Policy
	from, to int64 // the period to account for, both included
	late     int64 // instants before it are missed
	tooOld   int64 // instants before it are outside the window

	pausedFrom, pausedUntil int64 // [from, until) of an ended pause
	keepFrom                int64 // missed instants from here on are within the limit

	maxRuns         int
	active, waiting bool
	newest          int64 // the only run that cancel_running makes
	steps           int

	state    State
	out      Planned
	reached  int64 // everything up to here is accounted for
	pending  int64 // covered instants whose run comes later in the plan
	covering int64 // the first of them
}

func newPlanner(r *Rule, state State, now time.Time, policy Policy, maxRuns int) *planner {
	if policy.Limit <= 0 {
		policy.Limit = DefaultMissedLimit
	}
	if policy.Grace <= 0 {
		policy.Grace = DefaultGrace
	}
	if policy.Missed == "" {
		policy.Missed = MissedOnce
	}
	if maxRuns <= 0 {
		maxRuns = DefaultMaxRuns
	}
	p := &planner{rule: r, policy: policy, maxRuns: maxRuns, state: state, active: state.Active, waiting: state.Waiting}
	p.from, p.to = r.ceil(state.Next), r.floor(now)
	p.late = r.ceil(now.Add(-policy.Grace))
	p.tooOld = longAgo
	if policy.Window > 0 {
		p.tooOld = r.ceil(now.Add(-policy.Window))
	}
	switch {
	case state.PausedFrom.IsZero():
	case state.PausedUntil.IsZero():
		p.to = min(p.to, r.ceil(state.PausedFrom)-1)
	default:
		p.pausedFrom, p.pausedUntil = r.ceil(state.PausedFrom), r.ceil(state.PausedUntil)
	}
	p.reached = p.from - 1
	return p
}

// fate is the planned outcome of the occurrences of a section, before the overlap policy applies.
type fate int

const (
	run fate = iota
	lateRun
	cover
	skip
)

// section is a range of instants with the same fate.
type section struct {
	from, to int64 // both included
	fate     fate
	reason   Reason // of skip
}

// era is a range of instants that are all missed or all punctual.
type era struct {
	from, to int64
	missed   Reason // ReasonMissed, ReasonPaused; "" for punctual ones
}

// eras splits the period to account for into missed instants (late or paused) and punctual ones.
func (p *planner) eras() []era {
	cuts := []int64{p.from, p.late, p.pausedFrom, p.pausedUntil, p.to + 1}
	var found []era
	for at := p.from; at <= p.to; {
		end := p.to + 1
		for _, cut := range cuts {
			if cut > at {
				end = min(end, cut)
			}
		}
		e := era{from: at, to: end - 1}
		switch {
		case p.pausedFrom <= at && at < p.pausedUntil:
			e.missed = ReasonPaused
		case at < p.late:
			e.missed = ReasonMissed
		}
		found = append(found, e)
		at = end
	}
	return found
}

// sections decides the fate of every instant.
func (p *planner) sections() []section {
	eras := p.eras()
	last := p.settle(eras)
	var found []section
	for _, e := range eras {
		switch {
		case e.missed == "":
			found = append(found, section{e.from, e.to, run, ""})
		case p.policy.Missed == MissedSkip:
			found = append(found, section{e.from, e.to, skip, e.missed})
		default:
			found = append(found, p.missedSections(e, last)...)
		}
	}
	p.newest = longAgo
	for _, s := range found {
		if s.fate == run || s.fate == lateRun {
			if m, ok := p.rule.prevAt(s.to, &p.steps); ok && m.at >= s.from {
				p.newest = m.at
			}
		}
	}
	return found
}

// missedSections splits a missed era at the window, at the limit, and (for MissedOnce) at the last missed instant.
func (p *planner) missedSections(e era, last int64) []section {
	var found []section
	add := func(before int64, what fate, reason Reason) {
		if to := min(e.to, before-1); e.from <= to {
			found = append(found, section{e.from, to, what, reason})
			e.from = to + 1
		}
	}
	add(p.tooOld, skip, ReasonWindow)
	if p.policy.Missed == MissedAll {
		add(p.keepFrom, skip, ReasonLimit)
		add(farAhead, lateRun, "")
		return found
	}
	add(last, cover, "")
	add(farAhead, lateRun, "")
	return found
}

// settle finds the last missed occurrence within the window, and sets keepFrom to the start of the newest Limit of them.
func (p *planner) settle(eras []era) (last int64) {
	last = farAhead
	p.keepFrom = longAgo
	if !p.state.KeepFrom.IsZero() {
		p.keepFrom = p.rule.ceil(p.state.KeepFrom)
	}
	left := p.policy.Limit
	for i := len(eras) - 1; i >= 0; i-- {
		e := eras[i]
		if e.missed == "" {
			continue
		}
		for at := e.to; ; {
			m, ok := p.rule.prevAt(at, &p.steps)
			if !ok || m.at < max(e.from, p.tooOld) {
				break
			}
			if last == farAhead {
				last = m.at
			}
			if p.policy.Missed != MissedAll || !p.state.KeepFrom.IsZero() {
				return last
			}
			if left == 0 {
				p.keepFrom = m.at + 1
				return last
			}
			left--
			at = m.at - 1
		}
	}
	return last
}
