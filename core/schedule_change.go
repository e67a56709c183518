package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// ResumeSchedule is the step that ends a pause at now: runs that came due in it follow the missed policy. rule is the
// new definition, whose Paused is false.
func ResumeSchedule(s *Schedule, r *ScheduleRule, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	now = now.Truncate(time.Microsecond)
	rule, err := s.parse(o.Zones)
	if err != nil {
		return nil, err
	}
	p := s.account(rule, recurrence.State{PausedFrom: s.State.PausedAt, PausedUntil: now}, now, o)
	p.Rule, p.State.PausedAt = r, time.Time{}
	if p.State.ExpectBy.IsZero() {
		expectNext(&p.State, r, rule, now)
	}
	return p, nil
}

// PauseSchedule is the step that begins a pause at now, once all instants up to now are accounted for.
func PauseSchedule(s *Schedule, r *ScheduleRule, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	p, err := PlanSchedule(s, now, o)
	switch {
	case errors.Is(err, ErrUnreadable):
		return s.pauseUnreadable(r, now), nil
	case err != nil:
		return nil, err
	case p == nil:
		p = s.step()
	case p.More:
		return p, nil // the rest first
	}
	p.Rule, p.State.PausedAt, p.State.NextDue = r, now.Truncate(time.Microsecond), time.Time{}
	if !r.ExpectPaused && !p.State.Alerted { // one that is overdue is looked at until a run succeeds
		p.State.ExpectBy, p.State.Expected = time.Time{}, time.Time{}
	}
	return p, nil
}

// RedefineSchedule is the step that gives a schedule another definition at now: the old rule is accounted for up to
// now, the new one counts from now. What was missed under the old one is not made up where either of them says skip. Nil means that the definitions are equal. More: plan again from where it leads.
func RedefineSchedule(s *Schedule, r *ScheduleRule, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	now = later(now.Truncate(time.Microsecond), s.State.Accounted)
	if r.equal(&s.Rule) {
		return nil, nil
	}
	same := s.Rule
	same.Paused = r.Paused
	switch onlyPaused := r.equal(&same); {
	case onlyPaused && r.Paused:
		return PauseSchedule(s, r, now, o)
	case onlyPaused:
		return ResumeSchedule(s, r, now, o)
	}
	p, err := s.settle(r, now, o)
	switch {
	case errors.Is(err, ErrUnreadable):
		return s.replace(r, now, o)
	case err != nil || p.More:
		return p, err
	}
	st, err := StartSchedule(r, now, o)
	if err != nil {
		return nil, err
	}
	if s.Rule.sameInterval(r) {
		st.Anchor = s.State.Anchor
		rule, err := r.parse(st.Anchor, o.Zones)
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

// sameInterval reports whether another definition goes on with the interval of this one, from where it began.
func (r *ScheduleRule) sameInterval(other *ScheduleRule) bool {
	return r.Every != 0 && r.Every == other.Every && r.StartsAt.Equal(other.StartsAt)
}

// equal reports whether two definitions are kept alike: a stored one has lost the white space of its target.
func (r *ScheduleRule) equal(other *ScheduleRule) bool {
	one, err := json.Marshal(r)
	if err != nil {
		return false
	}
	two, err := json.Marshal(other)
	return err == nil && bytes.Equal(one, two) && bytes.Equal(r.Payload, other.Payload)
}

// settle accounts for all instants up to now, those of a pause as skipped, before the definition is another.
func (s *Schedule) settle(r *ScheduleRule, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	if s.State.PausedAt.IsZero() {
		old := *s
		if r.Missed == "skip" {
			old.Rule.Missed = "skip"
		}
		p, err := PlanSchedule(&old, now, o)
		if p == nil && err == nil {
			p = s.step()
		}
		return p, err
	}
	rule, err := s.parse(o.Zones)
	if err != nil {
		return nil, err
	}
	skipping := *s
	skipping.Rule.Missed = "skip"
	until := now.Add(time.Microsecond) // the pause goes on
	return skipping.account(rule, recurrence.State{PausedFrom: s.State.PausedAt, PausedUntil: until}, now, o), nil
}
