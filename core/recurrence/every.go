package recurrence

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
