package core

import (
	"cmp"
	"fmt"
	"time"
)

// Watch decides about a schedule that is Overdue. found is what Succeeded answered for the instant that is expected. When
// a success is expected next, whether an alert stands, and the alert itself go into the step p.
//
// No success: an alert is raised, once, and the schedule is looked at again before long. A success in time: the next
// instant behind the newest one is expected. A late one: the alert is raised and is over. A rule that cannot be read makes
// no runs: it raises the alert too.
func (p *SchedulePlan) Watch(s *Schedule, found Success, now time.Time, o ScheduleOptions) {
	within := time.Duration(s.Rule.ExpectWithin)
	alert := Alert{Kind: AlertScheduleMissed, Tenant: s.Tenant, Subject: s.Name, Detail: fmt.Sprintf(
		"no success of the instant %s was recorded within %s", s.State.Expected.Format(time.RFC3339), within)}
	rule, err := s.parse(o.Zones)
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
func (p *SchedulePlan) keepLooking(s *Schedule, r *ScheduleRule, now time.Time) {
	if within := time.Duration(r.ExpectWithin); p.State.Alerted && within > 0 {
		p.State.Expected = s.State.Expected
		if p.State.Expected.IsZero() {
			p.State.Expected = now
		}
		p.State.ExpectBy = now.Add(recoveryWait(within)).Truncate(time.Microsecond)
	}
}

// clearExpected clears the alert of a schedule from which no success is expected any more.
func (p *SchedulePlan) clearExpected(s *Schedule, r *ScheduleRule, now time.Time) {
	if r.ExpectWithin <= 0 && p.State.Alerted {
		p.State.Alerted = false
		p.Alerts = append(p.Alerts, Alert{Kind: AlertScheduleMissed, Tenant: s.Tenant, Subject: s.Name, ClearedAt: now})
	}
}

// droppedAlert tells of instants that were dropped because more were missed than missed_limit.
func droppedAlert(s *Schedule, n int64, now time.Time) Alert {
	return Alert{
		Kind: AlertDropped, Tenant: s.Tenant, Subject: s.Name, RaisedAt: now, ClearedAt: now,
		Detail: fmt.Sprintf("%d missed instants were dropped: more than missed_limit (%d) were missed", n, cmp.Or(s.Rule.MissedLimit, DefaultMissedLimit)),
	}
}
