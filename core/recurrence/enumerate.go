package recurrence

import "time"

// Enumerate returns up to limit occurrences after from and not after to, oldest first. They include the instants that the
// rule's choice about daylight saving drops. more says that the limit was reached; continue from the last one returned.
func (r *Rule) Enumerate(from, to time.Time, limit int) (found []Occurrence, more bool) {
	steps := 0
	x, y := r.floor(from)+1, r.floor(to)
	for {
		m, ok := r.nextAt(x, true, &steps)
		if !ok || m.at > y {
			return found, false
		}
		if len(found) >= limit {
			return found, true
		}
		found = append(found, r.occurrence(m))
		x = m.at + 1
	}
}

// Count returns how many occurrences lie after from and not after to, without dropped ones. Its work is proportional to the
// months in between, however often the rule is due.
func (r *Rule) Count(from, to time.Time) int64 {
	total := int64(0)
	for _, s := range r.Spans(from, to) {
		if s.Dropped == "" {
			total += s.Count
		}
	}
	return total
}

// period is the interval of @every in microseconds.
func (r *Rule) period() int64 { return r.every.Microseconds() }

// everyAfter is the first instant of @every later than x, both in microseconds: elapsed time from the anchor,
// whatever the clock on the wall does.
func (r *Rule) everyAfter(x int64) int64 {
	return r.anchor + floor(x-r.anchor, r.period()) + r.period()
}

// everyCount is how many instants of @every lie in [from, to].
func (r *Rule) everyCount(from, to int64) int64 {
	first := r.everyAfter(from - 1)
	if first > to {
		return 0
	}
	return (to-first)/r.period() + 1
}
