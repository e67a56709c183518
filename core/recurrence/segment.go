package recurrence

const correction = int64(Correction / 1e9) // in seconds

// opened returns the gap or the overlap, in seconds, at the segment's start. Corrections are neither.
func (g segment) opened() (gap, overlap int64) { return jump(g.offset - g.before) }

// closed returns the same for the segment's end.
func (g segment) closed() (gap, overlap int64) { return jump(g.after - g.offset) }

func jump(change int64) (gap, overlap int64) {
	switch {
	case 0 < change && change < correction:
		return change, 0
	case -correction < change && change < 0:
		return 0, -change
	}
	return 0, 0
}

// dueRange returns the part [from, to) of the segment whose matches are due. The second pass of an overlap is the start of a
// segment, and the first pass is the end of the segment before.
func (r *Rule) dueRange(g segment) (from, to int64) {
	from, to = g.start, g.end
	if !r.fields.fixed {
		return from, to
	}
	if _, overlap := g.opened(); r.overlap == First {
		from += overlap
	}
	if _, overlap := g.closed(); r.overlap == Last {
		to -= overlap
	}
	return from, to
}

// gapBefore returns the length of the gap before the segment for a fixed-time rule, or 0 for others.
func (r *Rule) gapBefore(g segment) int64 {
	if !r.fields.fixed {
		return 0
	}
	gap, _ := g.opened()
	return gap
}

// first returns the first moment of the segment at or after x. With all it includes dropped ones.
func (r *Rule) first(g segment, x int64, all bool, steps *int) (moment, bool) {
	from, to := r.dueRange(g)
	if all {
		from, to = g.start, g.end
	}
	wall, real := r.fields.next(max(x, from)+g.offset, to+g.offset, steps)
	match := r.match(g, wall-g.offset)
	made, ok := r.firstInGap(g, x, all, steps)
	switch {
	case !ok:
		return match, real
	case !real || made.at < match.at || made.at == match.at && made.dropped == "":
		return made, true
	}
	return match, true
}

// last returns the last moment of the segment at or before x that is not dropped.
func (r *Rule) last(g segment, x int64, steps *int) (moment, bool) {
	from, to := r.dueRange(g)
	wall, real := r.fields.last(from+g.offset, min(x+1, to)+g.offset, steps)
	match := r.match(g, wall-g.offset)
	made, ok := r.lastInGap(g, x, steps)
	if ok && (!real || made.at >= match.at) {
		return made, true
	}
	return match, real
}

// match returns the moment of a real match.
func (r *Rule) match(g segment, at int64) moment {
	m := moment{at: at}
	_, opened := g.opened()
	_, closed := g.closed()
	if at < g.start+opened || at >= g.end-closed {
		m.dst = OverlapMark
	}
	if from, to := r.dueRange(g); at < from || at >= to {
		m.dropped = ReasonDSTOverlap
	}
	return m
}

// firstInGap returns the first moment at or after x that is made up for the gap before the segment.
func (r *Rule) firstInGap(g segment, x int64, all bool, steps *int) (moment, bool) {
	gap := r.gapBefore(g)
	if r.gap != Shift {
		if x > g.start {
			return moment{}, false
		}
		return r.gapMoment(g, gap, all, steps)
	}
	wall, ok := r.fields.next(max(x, g.start)+g.before, g.start+gap+g.before, steps)
	return moment{at: wall - g.before, dst: GapMark}, ok
}

// lastInGap returns the last moment at or before x that is made up for the gap before the segment.
func (r *Rule) lastInGap(g segment, x int64, steps *int) (moment, bool) {
	gap := r.gapBefore(g)
	if r.gap != Shift {
		if x < g.start {
			return moment{}, false
		}
		return r.gapMoment(g, gap, false, steps)
	}
	wall, ok := r.fields.last(g.start+g.before, min(x+1, g.start+gap)+g.before, steps)
	return moment{at: wall - g.before, dst: GapMark}, ok
}

// gapMoment returns the one moment that replaces all matches of the gap.
func (r *Rule) gapMoment(g segment, gap int64, all bool, steps *int) (moment, bool) {
	if gap == 0 || r.gap == SkipGap && !all {
		return moment{}, false
	}
	m := moment{at: g.start, dst: GapMark}
	if r.gap == SkipGap {
		m.dropped = ReasonDSTGap
	}
	m.swallowed = r.fields.count(g.start+g.before, g.start+g.offset, steps)
	return m, m.swallowed > 0
}
