package recurrence

import "time"

// MaxSteps bounds the work of one Next or Prev for every rule and instant: the number of months whose days are checked, a
// few nanoseconds each. The worst rules match on one day a year, in a skipped gap: they check each of 601 years a few times
// in vain.
const MaxSteps = 10_000

// Next returns the first occurrence after t, or false if there is none before the rule's end or the end of MaxYear.
//
// The result does not depend on how long before it t is. The work is at most MaxSteps steps, well below a millisecond, even
// if nothing matches.
func (r *Rule) Next(t time.Time) (Occurrence, bool) {
	steps := 0
	m, ok := r.nextAt(r.floor(t)+1, false, &steps)
	if !ok {
		return Occurrence{}, false
	}
	return r.occurrence(m), true
}

// Prev returns the last occurrence before t, or false if there is none after the rule's start or the start of MinYear. It is
// the reverse of Next, within the same bound.
func (r *Rule) Prev(t time.Time) (Occurrence, bool) {
	steps := 0
	m, ok := r.prevAt(r.ceil(t)-1, &steps)
	if !ok {
		return Occurrence{}, false
	}
	return r.occurrence(m), true
}

// nextAt returns the first moment at or after x. With all it includes dropped ones.
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
		// From the segment's end on, the clock shows at least this time. Offsets are less than a day.
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
