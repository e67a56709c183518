package recurrence

import "time"

// Span is a maximal range of occurrences, or of dropped instants, with none of the other kind in between.
type Span struct {
	From, To time.Time // the first and the last instant
	Count    int64
	Dropped  Reason // as in Occurrence
}

// Spans returns the result of Enumerate without a limit, as ranges. Its work is proportional to the months between the two
// instants, however often the rule is due. With Shift it is also proportional to the seconds of the gaps.
func (r *Rule) Spans(from, to time.Time) []Span {
	steps := 0
	return r.timed(r.spans(r.floor(from)+1, r.floor(to), &steps))
}

// stretch is a Span in the rule's own unit.
type stretch struct {
	from, to, count int64
	dropped         Reason
}

func (r *Rule) timed(found []stretch) []Span {
	spans := make([]Span, len(found))
	for i, s := range found {
		spans[i] = Span{From: r.time(s.from), To: r.time(s.to), Count: s.count, Dropped: s.dropped}
	}
	return spans
}

// spans returns the stretches in [from, to].
func (r *Rule) spans(from, to int64, steps *int) []stretch {
	first, last := r.limits()
	from, to = max(from, first), min(to, last)
	if from > to {
		return nil
	}
	var found stretches
	if r.every > 0 {
		if n := r.everyCount(from, to); n > 0 {
			begin := r.everyAfter(from - 1)
			found.add(begin, begin+(n-1)*r.period(), n, "")
		}
		return found
	}
	for from <= to {
		g := r.zone.segment(from)
		r.addSegment(&found, g, from, min(to, g.end-1), steps)
		from = g.end
	}
	return found
}

// addSegment adds the stretches of one segment in [from, to].
func (r *Rule) addSegment(found *stretches, g segment, from, to int64, steps *int) {
	if gap := r.gapBefore(g); gap > 0 && from < g.start+gap {
		if r.gap == Shift { // shifted matches mix with those of the time they move to: handle them one by one
			for m, ok := r.first(g, from, true, steps); ok && m.at < min(g.start+gap, to+1); m, ok = r.first(g, from, true, steps) {
				found.add(m.at, m.at, 1, m.dropped)
				from = m.at + 1
			}
			from = max(from, g.start+gap)
		} else if m, ok := r.first(g, from, true, steps); ok && m.at <= to {
			found.add(m.at, m.at, 1, m.dropped)
			from = m.at + 1
		}
	}
	begin, end := r.dueRange(g)
	for _, part := range [...]struct {
		from, to int64 // [from, to)
		dropped  Reason
	}{{g.start, begin, ReasonDSTOverlap}, {begin, end, ""}, {end, g.end, ReasonDSTOverlap}} {
		low, high := max(part.from, from)+g.offset, min(part.to, to+1)+g.offset
		if n := r.fields.count(low, high, steps); n > 0 {
			head, _ := r.fields.next(low, high, steps)
			tail, _ := r.fields.last(low, high, steps)
			found.add(head-g.offset, tail-g.offset, n, part.dropped)
		}
	}
}

// stretches are in order. Adjacent ones of the same kind are joined.
type stretches []stretch

func (s *stretches) add(from, to, count int64, dropped Reason) {
	if n := len(*s); n > 0 && (*s)[n-1].dropped == dropped {
		(*s)[n-1].to = to
		(*s)[n-1].count += count
		return
	}
	*s = append(*s, stretch{from, to, count, dropped})
}
