package recurrence

import "time"

// Mark says that a change of the clock affects an occurrence.
type Mark string

const (
	GapMark     Mark = "gap"     // made for matches inside a gap, as dst_gap says
	OverlapMark Mark = "overlap" // its wall-clock time comes twice that day
)

// Occurrence is an instant at which a rule is due, or would be due without its choice about daylight saving.
type Occurrence struct {
	At  time.Time // in the rule's zone, with the offset of its own date
	DST Mark      // "" if no change of the clock affects it

	// Dropped is ReasonDSTGap or ReasonDSTOverlap for an instant that the rule's choice leaves out. Next and Prev never
	// return such an instant. Enumerate does, because the ledger accounts for it. A skipped gap yields one such instant, the
	// first after it, for all matches that it swallowed. If a real match falls on that instant, the gap yields none.
	Dropped Reason

	// Swallowed is the number of matches inside the gap that this instant replaces. It is 0 if DST is not GapMark or dst_gap
	// is shift.
	Swallowed int64
}

// moment is an occurrence in the rule's own unit of time: seconds, or microseconds for @every.
type moment struct {
	at        int64
	dst       Mark
	dropped   Reason
	swallowed int64
}

// unit returns how many of the rule's units make a second.
func (r *Rule) unit() int64 {
	if r.every > 0 {
		return 1_000_000
	}
	return 1
}

// floor returns the last unit that begins at or before t, clamped to one step beyond the range of searches.
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

// ceil returns the first unit that begins at or after t.
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

// limits returns the first and the last unit that may be due.
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
