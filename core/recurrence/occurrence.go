package recurrence

import "time"

// Mark says that a change of the clock has to do with an occurrence.
type Mark string

const (
	GapMark     Mark = "gap"     // made up for matches inside a gap, by the schedule's dst_gap
	OverlapMark Mark = "overlap" // its wall-clock time comes twice that day
)

// Occurrence is one instant at which a rule is due, or would be but for its choice about daylight saving.
type Occurrence struct {
	At  time.Time // in the rule's zone, with the offset of its own date
	DST Mark      // "" where no change of the clock plays a part

	// Dropped is ReasonDSTGap or ReasonDSTOverlap for an instant that the rule's choice leaves out: never from Next and Prev,
	// but from Enumerate, because the ledger accounts for it. A gap that is skipped is one such instant, the
	// first after it, however many matches it swallowed; with a real match at that instant it is none.
	Dropped Reason

	// Swallowed is how many matches inside the gap this one instant stands for. 0 where DST is not GapMark
	// or dst_gap is shift.
	Swallowed int64
}

// moment is an occurrence in the rule's own unit of time: seconds, or microseconds for @every.
type moment struct {
	at        int64
	dst       Mark
	dropped   Reason
	swallowed int64
}

// unit is how many of the rule's units make a second.
func (r *Rule) unit() int64 {
	if r.every > 0 {
		return 1_000_000
	}
	return 1
}

// floor is the last unit that begins at or before t, kept within a step of the range of searches.
func (r *Rule) floor(t time.Time) int64 {
	second := t.Unix()
	switch {
	case second < minInstant:
		return minInstant*r.unit() - 1
	case second > maxInstant:
		return (maxInstant + 1) * r.unit()
	case r.every > 0:
		return t.UnixMicro()
	}
	return second
}

// ceil is the first unit that begins at or after t.
func (r *Rule) ceil(t time.Time) int64 {
	at := r.floor(t)
	if r.time(at).Before(t) && at < (maxInstant+1)*r.unit() {
		at++
	}
	return at
}

func (r *Rule) time(at int64) time.Time {
	if r.every > 0 {
		return time.UnixMicro(at).In(r.zone.location)
	}
	return time.Unix(at, 0).In(r.zone.location)
}

func (r *Rule) occurrence(m moment) Occurrence {
	return Occurrence{At: r.time(m.at), DST: m.dst, Dropped: m.dropped, Swallowed: m.swallowed}
}

// limits are the first and the last unit that may be due.
func (r *Rule) limits() (first, last int64) {
	first, last = minInstant*r.unit(), (maxInstant+1)*r.unit()-1
	if !r.start.IsZero() {
		first = max(first, r.ceil(r.start))
	}
	if !r.end.IsZero() {
		last = min(last, r.ceil(r.end)-1)
	}
	return first, last
}
