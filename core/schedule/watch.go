package schedule

import (
	"cmp"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Watch checks an overdue schedule. found is the answer of Succeeded for the expected instant. It sets in p when a success
// is expected next and whether an alert is open, and adds the alert itself.
//
// Without a success it raises an alert once, and the schedule is checked again soon. After a success in time, the instant
// after the newest one is expected next. After a late success the alert is raised and cleared at once. An unreadable rule
// makes no runs, so it raises the alert too.
func (p *Plan) Watch(s *core.Schedule, found core.Success, now time.Time, o Options) {
	within := time.Duration(s.Rule.ExpectWithin)
	alert := core.Alert{Kind: core.AlertScheduleMissed, Tenant: s.Tenant, Subject: s.Name, Detail: fmt.Sprintf(
		"no success of %s was recorded within %s", expectedInstant(s.State.Expected), within)}
	rule, err := parseWith(s, o.Cache)
	if err != nil && within <= 0 {
		alert.Detail = "no success was recorded: the rule cannot be read, so it makes no runs"
	}
	if err != nil || found.Newest.IsZero() {
		wait := recoveryWait(within)
		if err != nil {
			wait = brokenEvery
		}
		p.State.ExpectBy = now.Add(wait).Truncate(time.Microsecond)
		p.State.Expected, p.State.Alerted = s.State.Expected, true
		if !s.State.Alerted {
			p.Alerts = append(p.Alerts, alert)
		}
		return
	}
	expectNext(&p.State, &s.Rule, rule, found.Newest)
	p.State.Alerted = false
	alert.ClearedAt = now
	switch due := s.State.Expected.Add(within); {
	case s.State.Alerted:
		p.Alerts = append(p.Alerts, alert)
	case found.First.After(due):
		alert.RaisedAt = now
		p.Alerts = append(p.Alerts, alert)
	}
}

// expectedInstant names the instant of which a success is expected.
func expectedInstant(at time.Time) string {
	if at.Year() > 9999 {
		return "an instant beyond the year 9999, which a damaged row holds,"
	}
	return "the instant " + at.Format(time.RFC3339)
}

// recoveryWait returns the time between two checks whether an overdue schedule has recovered.
func recoveryWait(within time.Duration) time.Duration {
	return min(max(within/4, time.Second), recoverySlowly)
}

// keepLooking continues to look for the success that clears the schedule's alert, even after its definition changed.
func (p *Plan) keepLooking(s *core.Schedule, r *core.ScheduleRule, now time.Time) {
	if within := time.Duration(r.ExpectWithin); p.State.Alerted && within > 0 {
		p.State.Expected = s.State.Expected
		if p.State.Expected.IsZero() {
			p.State.Expected = now
		}
		p.State.ExpectBy = now.Add(recoveryWait(within)).Truncate(time.Microsecond)
	}
}

// clearExpected clears the alert of a schedule that no longer expects a success.
func (p *Plan) clearExpected(s *core.Schedule, r *core.ScheduleRule, now time.Time) {
	if r.ExpectWithin <= 0 && p.State.Alerted {
		p.State.Alerted = false
		p.Alerts = append(p.Alerts, core.Alert{Kind: core.AlertScheduleMissed, Tenant: s.Tenant, Subject: s.Name, ClearedAt: now})
	}
}

// droppedAlert reports instants that were dropped because more were missed than missed_limit.
func droppedAlert(s *core.Schedule, n int64, now time.Time) core.Alert {
	return core.Alert{
		Kind: core.AlertDropped, Tenant: s.Tenant, Subject: s.Name, RaisedAt: now, ClearedAt: now,
		Detail: fmt.Sprintf("%d missed instants were dropped: more than missed_limit (%d) were missed", n, cmp.Or(s.Rule.MissedLimit, DefaultMissedLimit)),
	}
}
