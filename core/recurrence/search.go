package recurrence

import "time"

// MaxSteps bounds the work of one Next or Prev, for every rule and every instant: the number of months whose
// days are looked at, each a matter of nanoseconds. The worst are rules that match on one day a year, in a gap
// that is skipped: they look in vain at each of 601 years a few times.
const MaxSteps = 10_000

// Next returns the first occurrence after t; false if there is none before the rule's end or the end of MaxYear.
//
// The answer is later than t, and the same whichever instant before it one asks from. The work is at most
// MaxSteps steps, well below a millisecond, also where nothing matches.
func (r *Rule) Next(t time.Time) (Occurrence, bool) {
	steps := 0
	m, ok := r.nextAt(r.floor(t)+1, false, &steps)
	if !ok {
		return Occurrence{}, false
	}
	return r.occurrence(m), true
}

// Prev returns the last occurrence before t; false if there is none after the rule's start or that of MinYear.
// It returns what Next does, in the other direction, within the same bound.
func (r *Rule) Prev(t time.Time) (Occurrence, bool) {
	steps := 0
	m, ok := r.prevAt(r.ceil(t)-1, &steps)
	if !ok {
		return Occurrence{}, false
	}
	return r.occurrence(m), true
}

// nextAt returns the first moment at or after x; with all also those that are dropped.
func (r *Rule) nextAt(x int64, all bool, steps *int) (moment, bool) {
	first, last := r.limits()
	x = max(x, first)
	if r.every > 0 {
		m := moment{at: r.everyAfter(x - 1)}
		return m, m.at <= last
	}
	for x <= last {
		*steps++
		g := r.zone.segment(x)
		if m, ok := r.first(g, x, all, steps); ok {
			return m, m.at <= last
		}
		// From the segment's end on the clock shows no less than wall. Offsets are less than a day.
		wall, ok := r.fields.next(g.end+min(g.offset, g.after), last+2*day, steps)
		if !ok {
			break
		}
		x = max(g.end, wall-day)
	}
	return moment{}, false
}

// prevAt returns the last moment at or before x that is not dropped.
func (r *Rule) prevAt(x int64, steps *int) (moment, bool) {
	first, last := r.limits()
	x = min(x, last)
	if r.every > 0 {
		m := moment{at: r.everyAfter(x) - r.period()}
		return m, m.at >= first
	}
	for x >= first {
		*steps++
		g := r.zone.segment(x)
		if m, ok := r.last(g, x, steps); ok {
			return m, m.at >= first
		}
		wall, ok := r.fields.last(first-2*day, g.start+max(g.before, g.offset), steps)
		if !ok {
			break
		}
		x = min(g.start-1, wall+day)
	}
	return moment{}, false
}
