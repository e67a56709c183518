package schedule

import (
	"cmp"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Watch decides about a schedule that is Overdue. found is what Succeeded answered for the instant that is expected. When
// a success is expected next, whether an alert stands, and the alert itself go into the step p.
//
// No success: an alert is raised, once, and the schedule is looked at again before long. A success in time: the next
// instant behind the newest one is expected. A late one: the alert is raised and is over. A rule that cannot be read makes
// no runs: it raises the alert too.
func (p *Plan) Watch(s *core.Schedule, found core.Success, now time.Time, o Options) {
	within := time.Duration(s.Rule.ExpectWithin)
	alert := core.Alert{Kind: core.AlertScheduleMissed, Tenant: s.Tenant, Subject: s.Name, Detail: fmt.Sprintf(
		"no success of the instant %s was recorded within %s", s.State.Expected.Format(time.RFC3339), within)}
	rule, err := parseWith(s, o.Cache)
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

// recoveryWait is how long after a look for the recovery of a schedule that is overdue the next one comes.
func recoveryWait(within time.Duration) time.Duration {
	return min(max(within/4, time.Second), recoverySlowly)
}

// keepLooking goes on looking for the success that clears the alert of a schedule, though its definition is another now.
func (p *Plan) keepLooking(s *core.Schedule, r *core.ScheduleRule, now time.Time) {
	if within := time.Duration(r.ExpectWithin); p.State.Alerted && within > 0 {
		p.State.Expected = s.State.Expected
		if p.State.Expected.IsZero() {
			p.State.Expected = now
		}
		p.State.ExpectBy = now.Add(recoveryWait(within)).Truncate(time.Microsecond)
	}
}

// clearExpected clears the alert of a schedule from which no success is expected any more.
func (p *Plan) clearExpected(s *core.Schedule, r *core.ScheduleRule, now time.Time) {
	if r.ExpectWithin <= 0 && p.State.Alerted {
		p.State.Alerted = false
		p.Alerts = append(p.Alerts, core.Alert{Kind: core.AlertScheduleMissed, Tenant: s.Tenant, Subject: s.Name, ClearedAt: now})
	}
}

// droppedAlert tells of instants that were dropped because more were missed than missed_limit.
func droppedAlert(s *core.Schedule, n int64, now time.Time) core.Alert {
	return core.Alert{
		Kind: core.AlertDropped, Tenant: s.Tenant, Subject: s.Name, RaisedAt: now, ClearedAt: now,
		Detail: fmt.Sprintf("%d missed instants were dropped: more than missed_limit (%d) were missed", n, cmp.Or(s.Rule.MissedLimit, DefaultMissedLimit)),
	}
}
