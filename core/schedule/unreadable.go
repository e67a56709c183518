package schedule

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// ErrUnreadable is returned for a schedule whose stored definition cannot be read: it was damaged, or names a zone that this
// program lacks. Put of a valid definition replaces it.
var ErrUnreadable = errors.New("the stored definition cannot be read")

// Parse parses the stored rule for package recurrence. The error is ErrUnreadable with the reason.
func Parse(s *core.Schedule) (*recurrence.Rule, error) { return parseWith(s, nil) }

func parseWith(s *core.Schedule, cache *recurrence.Cache) (*recurrence.Rule, error) {
	if s.Fault != "" {
		return nil, fmt.Errorf("%w: %s", ErrUnreadable, s.Fault)
	}
	rule, err := parseRule(&s.Rule, s.State.Anchor, cache)
	if err == nil {
		var errs core.FieldErrors
		kept := s.Rule
		choices(&kept, errs.Choose)
		err = errs.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnreadable, err.Error()) // hides FieldErrors: the caller sent none of these fields
	}
	return rule, nil
}

// Legible returns the rule with invalid words removed from its fields. Only a damaged rule has some.
func Legible(r core.ScheduleRule) core.ScheduleRule {
	choices(&r, func(_ string, value *string, usual string, others ...string) {
		if *value != usual && !slices.Contains(others, *value) {
			*value = ""
		}
	})
	return r
}

// DamagedRule is the Fault of a schedule whose stored definition cannot be decoded.
const DamagedRule = "it is damaged"

// noteUnreadable raises the alert about an unreadable rule, once.
func (p *Plan) noteUnreadable(s *core.Schedule, err error) {
	p.State.Unreadable = true
	p.Alerts = append(p.Alerts, core.Alert{Kind: core.AlertScheduleUnreadable, Tenant: s.Tenant, Subject: s.Name, Detail: err.Error()})
}

// noteReadable clears that alert.
func (p *Plan) noteReadable(s *core.Schedule, now time.Time) {
	if p.State.Unreadable {
		p.State.Unreadable = false
		p.Alerts = append(p.Alerts, core.Alert{Kind: core.AlertScheduleUnreadable, Tenant: s.Tenant, Subject: s.Name, ClearedAt: now})
	}
}

// replace returns the step that replaces an unreadable rule at now. It is unknown what was due under the old rule since
// Accounted; the ledger continues at now.
func replace(s *core.Schedule, r *core.ScheduleRule, now time.Time, o Options) (*Plan, error) {
	p := step(s)
	st, err := Start(r, now, o)
	if err != nil {
		return nil, err
	}
	st.Waiting, st.Alerted, st.Unreadable = s.State.Waiting, s.State.Alerted, s.State.Unreadable
	p.Rule, p.State = r, st
	p.keepLooking(s, r, now)
	p.clearExpected(s, r, now)
	p.noteReadable(s, now)
	return p, nil
}

// pauseUnreadable returns the step that pauses such a schedule. It accounts for nothing, because the due instants are
// unknown.
func pauseUnreadable(s *core.Schedule, r *core.ScheduleRule, now time.Time) *Plan {
	p := step(s)
	p.Rule, p.State.PausedAt, p.State.NextDue = r, now.Truncate(time.Microsecond), time.Time{}
	return p
}
