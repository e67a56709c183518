package schedule

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// Resume returns the step that ends a pause at now: runs that came due in the pause follow the missed policy. r is the new
// definition, with Paused false.
func Resume(s *core.Schedule, r *core.ScheduleRule, now time.Time, o Options) (*Plan, error) {
	now = now.Truncate(time.Microsecond)
	rule, err := parseWith(s, o.Cache)
	if err != nil {
		return nil, err
	}
	p := account(s, rule, recurrence.State{PausedFrom: s.State.PausedAt, PausedUntil: now}, now, o)
	p.Rule, p.State.PausedAt = r, time.Time{}
	if p.State.ExpectBy.IsZero() {
		expectNext(&p.State, r, rule, now)
	}
	return p, nil
}

// Pause returns the step that begins a pause at now. If instants up to now are still due, it accounts for those first.
func Pause(s *core.Schedule, r *core.ScheduleRule, now time.Time, o Options) (*Plan, error) {
	p, err := Next(s, now, o)
	switch {
	case errors.Is(err, ErrUnreadable):
		return pauseUnreadable(s, r, now), nil
	case err != nil:
		return nil, err
	case p == nil:
		p = step(s)
	case p.More:
		return p, nil // account for the rest first
	}
	p.Rule, p.State.PausedAt, p.State.NextDue = r, now.Truncate(time.Microsecond), time.Time{}
	if !r.ExpectPaused && !p.State.Alerted { // an overdue schedule is watched until a run succeeds
		p.State.ExpectBy, p.State.Expected = time.Time{}, time.Time{}
	}
	return p, nil
}

// Redefine returns the step that gives a schedule another definition at now. The old rule is accounted for up to now, and
// the new one counts from now. Runs missed under the old rule are not made up if either definition says skip. It returns nil
// if the definitions are equal and the schedule is not stuck. If the plan has More, apply it and plan again.
func Redefine(s *core.Schedule, r *core.ScheduleRule, now time.Time, o Options) (*Plan, error) {
	unchanged := equal(r, &s.Rule)
	if p, err := unstick(s, now, o); p != nil || err != nil {
		if p != nil {
			p.More = !unchanged
		}
		return p, err
	}
	if unchanged {
		return nil, nil
	}
	now = later(now.Truncate(time.Microsecond), s.State.Accounted)
	same := s.Rule
	same.Paused = r.Paused
	switch onlyPaused := equal(r, &same); {
	case onlyPaused && r.Paused:
		return Pause(s, r, now, o)
	case onlyPaused:
		return Resume(s, r, now, o)
	}
	p, err := accountUpTo(s, r, now, o)
	switch {
	case errors.Is(err, ErrUnreadable):
		return replace(s, r, now, o)
	case err != nil || p.More:
		return p, err
	}
	st, err := Start(r, now, o)
	if err != nil {
		return nil, err
	}
	if sameInterval(&s.Rule, r) {
		st.Anchor = s.State.Anchor
		rule, err := parseRule(r, st.Anchor, o.Cache)
		if err != nil {
			return nil, err
		}
		if !r.Paused {
			st.NextDue = storeTime(rule.NextToAccount(now))
		}
		expectNext(&st, r, rule, now)
	}
	st.Waiting, st.Alerted, st.Unreadable = p.State.Waiting, p.State.Alerted, p.State.Unreadable
	p.Rule, p.State = r, st
	p.keepLooking(s, r, now)
	p.clearExpected(s, r, now)
	p.noteReadable(s, now)
	return p, nil
}

// sameInterval reports whether the other definition continues this one's interval from the same start.
func sameInterval(r *core.ScheduleRule, other *core.ScheduleRule) bool {
	return r.Every != 0 && r.Every == other.Every && r.StartsAt.Equal(other.StartsAt)
}

// equal reports whether two definitions are stored alike. Storing removes white space from targets.
func equal(r *core.ScheduleRule, other *core.ScheduleRule) bool {
	one, err := json.Marshal(r)
	if err != nil {
		return false
	}
	two, err := json.Marshal(other)
	return err == nil && bytes.Equal(one, two) && bytes.Equal(r.Payload, other.Payload)
}

// accountUpTo accounts for all instants up to now before the definition changes; instants in a pause are skipped.
func accountUpTo(s *core.Schedule, r *core.ScheduleRule, now time.Time, o Options) (*Plan, error) {
	if s.State.PausedAt.IsZero() {
		old := *s
		if r.Missed == "skip" {
			old.Rule.Missed = "skip"
		}
		p, err := Next(&old, now, o)
		if p == nil && err == nil {
			p = step(s)
		}
		return p, err
	}
	rule, err := parseWith(s, o.Cache)
	if err != nil {
		return nil, err
	}
	skipping := *s
	skipping.Rule.Missed = "skip"
	until := now.Add(time.Microsecond) // the pause includes now
	return account(&skipping, rule, recurrence.State{PausedFrom: s.State.PausedAt, PausedUntil: until}, now, o), nil
}
