package recurrence

import "time"

// accountSection accounts for one section. It returns false if the plan is full.
func (p *planner) accountSection(s section) bool {
	for at := s.from; at <= s.to; {
		if s.fate == cover || s.fate == skip || !p.mayRun(s) {
			p.accountRanges(at, s)
			break
		}
		if p.policy.Overlap == OverlapCancelRunning && at < p.newest {
			p.accountRanges(at, section{at, p.newest - 1, s.fate, s.reason})
			at = p.newest
		}
		m, ok := p.rule.nextAt(at, true, &p.steps)
		if !ok || m.at > s.to {
			break
		}
		if m.dropped == "" && len(p.out.Runs) >= p.maxRuns && p.pending == 0 {
			p.out.More = true
			p.reached = m.at - 1
			return false
		}
		p.accountOne(m, s)
		at = m.at + 1
	}
	p.reached = s.to
	return true
}

// mayRun reports whether the overlap policy may allow a run in the section.
func (p *planner) mayRun(s section) bool {
	switch p.policy.Overlap {
	case OverlapSkip:
		return !p.active && !p.waiting
	case OverlapQueueOne:
		return !p.waiting
	case OverlapCancelRunning:
		return s.from <= p.newest && p.newest <= s.to
	}
	return true
}

// accountRanges accounts for the rest of a section without runs.
func (p *planner) accountRanges(from int64, s section) {
	for _, part := range p.rule.spans(from, s.to, &p.steps) {
		outcome, reason := Skipped, s.reason
		switch {
		case part.dropped != "":
			reason = part.dropped
		case s.fate == cover:
			outcome = Covered
			if p.pending == 0 {
				p.covering = part.from
			}
			p.pending += part.count
		case s.fate != skip:
			reason = ReasonOverlap
			if s.fate == lateRun {
				p.giveUpCovered()
			}
		}
		if part.dropped == "" && reason == ReasonLimit {
			p.out.Limited += part.count
		}
		p.appendEntry(part, outcome, reason)
	}
}

// accountOne accounts for one instant of a section with runs.
func (p *planner) accountOne(m moment, s section) {
	part := stretch{from: m.at, to: m.at, count: 1, dropped: m.dropped}
	if m.dropped != "" {
		p.appendEntry(part, Skipped, m.dropped)
		return
	}
	job := Run{ScheduledFor: p.rule.time(m.at), Covers: 1, CatchUp: s.fate == lateRun}
	job.CoversFrom, job.CoversTo = job.ScheduledFor, job.ScheduledFor
	if job.CatchUp && p.pending > 0 {
		job.Covers, job.CoversFrom = 1+p.pending, p.rule.time(p.covering)
		p.pending = 0
	}
	switch p.policy.Overlap {
	case OverlapQueueOne:
		job.Waits = p.active
		p.waiting = p.waiting || p.active
	case OverlapCancelRunning:
		job.CancelsPrevious = p.active
	}
	p.active = true
	p.out.Runs = append(p.out.Runs, job)
	outcome := Fired
	if s.fate == lateRun {
		outcome = CaughtUp
	}
	p.appendEntry(part, outcome, "")
}

// giveUpCovered turns the covered entries into skipped ones, because the run that was to cover them is not made.
func (p *planner) giveUpCovered() {
	for i := range p.out.Entries {
		if e := &p.out.Entries[i]; p.pending > 0 && e.Outcome == Covered {
			e.Outcome, e.Reason = Skipped, ReasonOverlap
		}
	}
	p.pending = 0
}

// appendEntry appends to the ledger, or extends its last entry if that has the same outcome.
func (p *planner) appendEntry(part stretch, outcome Outcome, reason Reason) {
	from, to := p.rule.time(part.from), p.rule.time(part.to)
	if n := len(p.out.Entries); n > 0 {
		if e := &p.out.Entries[n-1]; e.Outcome == outcome && e.Reason == reason {
			e.To = to
			e.Count += part.count
			return
		}
	}
	p.out.Entries = append(p.out.Entries, Entry{from, to, part.count, outcome, reason})
}

// finish returns the plan and the state after it.
func (p *planner) finish() Planned {
	p.out.State = p.state
	p.out.State.Active, p.out.State.Waiting = p.active, p.waiting
	p.out.State.KeepFrom = time.Time{}
	if p.out.More && p.policy.Missed == MissedAll {
		p.out.State.KeepFrom = p.rule.time(max(p.keepFrom, p.from))
	}
	if !p.state.Next.IsZero() && p.from <= p.to {
		p.out.State.Next = time.Time{}
		if m, ok := p.rule.nextAt(p.reached+1, true, &p.steps); ok {
			p.out.State.Next = p.rule.time(m.at)
		}
	}
	return p.out
}
