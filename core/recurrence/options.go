package recurrence

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// GapPolicy says how a fixed-time schedule handles matches that the clock jumps over.
type GapPolicy string

const (
	RunAtTransition GapPolicy = "run_at_transition" // one run at the first instant after the gap for all its matches
	Shift           GapPolicy = "shift"             // each match runs later by the gap's length
	SkipGap         GapPolicy = "skip"              // no run
)

// RepeatPolicy says which pass of a repeated hour a fixed-time schedule runs in.
type RepeatPolicy string

const (
	First RepeatPolicy = "first"
	Last  RepeatPolicy = "last"
	Both  RepeatPolicy = "both"
)

// Correction is the size from which a jump of the clock is a correction of the calendar (such as a skipped day), not
// daylight saving. For corrections nothing is made up and nothing held back.
const Correction = 3 * time.Hour

// Bounds of every search: no occurrence lies before MinYear or after MaxYear. MaxYear is more than 400 years (the period of
// the calendar) after the last change that any zone lists individually. So a rule without an occurrence in that range has
// none at all.
const (
	MinYear = 1900
	MaxYear = 2500
)

// Options are a schedule's choices besides its expression and its zone.
type Options struct {
	DSTGap     GapPolicy    // Zero means RunAtTransition.
	DSTOverlap RepeatPolicy // Zero means First.

	StartsAt time.Time // no occurrence before it. Zero means no such bound.
	EndsAt   time.Time // no occurrence at it or after it. Zero means no such bound.

	// Anchor is the instant from which @every counts in both directions, usually the creation of the schedule. If StartsAt
	// is set, it is the anchor instead. Zero means StartsAt; @every with neither is refused. It is truncated to the
	// microsecond.
	Anchor time.Time

	// Cache keeps zones and expressions between calls of Parse. Nil means that each call loads the zone and parses the text.
	Cache *Cache
}

// check adds an error for every invalid option and sets defaults.
func (o *Options) check(errs *FieldErrors) {
	switch o.DSTGap {
	case "":
		o.DSTGap = RunAtTransition
	case RunAtTransition, Shift, SkipGap:
	default:
		errs.add("dst_gap", "must be run_at_transition, shift or skip")
	}
	switch o.DSTOverlap {
	case "":
		o.DSTOverlap = First
	case First, Last, Both:
	default:
		errs.add("dst_overlap", "must be first, last or both")
	}
	for _, bound := range []struct {
		field string
		at    time.Time
	}{{"starts_at", o.StartsAt}, {"ends_at", o.EndsAt}, {"anchor", o.Anchor}} {
		if year := bound.at.UTC().Year(); !bound.at.IsZero() && (year < MinYear || year > MaxYear) {
			errs.add(bound.field, "must lie in the years %d to %d", MinYear, MaxYear)
		}
	}
	if !o.StartsAt.IsZero() && !o.EndsAt.IsZero() && !o.EndsAt.After(o.StartsAt) {
		errs.add("ends_at", "must be later than starts_at")
	}
}

// Jitter returns how much later than its instant a run starts: from 0 to below max, spread evenly over schedules and
// instants. It depends only on its arguments (the instant to the microsecond), so every machine and every repetition gets
// the same value. It is 0 if max ≤ 0.
func Jitter(schedule string, at time.Time, max time.Duration) time.Duration {
	if max <= 0 {
		return 0
	}
	text := binary.BigEndian.AppendUint64(nil, uint64(at.UnixMicro()))
	sum := sha256.Sum256(append(text, schedule...))
	part, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:8]), uint64(max))
	return time.Duration(part).Truncate(time.Microsecond)
}
