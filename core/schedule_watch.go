package core

import (
	"fmt"
	"time"
)

// Kinds of alerts.
const (
	AlertScheduleMissed = "schedule_missed"     // no success was recorded within expect_within of an instant
	AlertDropped        = "occurrences_dropped" // more was missed than missed_limit; raised and over at once
	AlertTypeMissed     = "type_missed"         // no job of a type succeeded for expect_within
)

// Watch decides about a schedule whose ExpectBy has passed. first and newest are what Succeeded answered for the
// instant that is expected. st is the state that the schedule is about to get: when a success is expected next, and whether
// an alert stands, is written there. The alerts are to be raised before.
//
// No success: an alert is raised, once, and the schedule is looked at again before long. A success in time: the next
// instant behind the newest one is expected. A late one: the alert is raised and is over.
func Watch(s *Schedule, st *ScheduleState, first, newest, now time.Time) ([]Alert, error) {
	rule, err := s.Rule.Parse(s.State.Anchor)
	if err != nil {
		return nil, err
	}
	alert := Alert{Kind: AlertScheduleMissed, Tenant: s.Tenant, Subject: s.Name, Detail: fmt.Sprintf(
		"no success of the instant %s was recorded within %s", s.State.Expected.Format(time.RFC3339), time.Duration(s.Rule.ExpectWithin))}
	if newest.IsZero() {
		within := time.Duration(s.Rule.ExpectWithin)
		st.ExpectBy = now.Add(min(max(within/4, time.Second), recoverySlowly)).Truncate(time.Microsecond)
		st.Expected, st.Alerted = s.State.Expected, true
		if s.State.Alerted {
			return nil, nil
		}
		return []Alert{alert}, nil
	}
	expectNext(st, &s.Rule, rule, newest)
	st.Alerted = false
	over := alert
	over.ClearedAt = now
	switch due := s.State.Expected.Add(time.Duration(s.Rule.ExpectWithin)); {
	case s.State.Alerted:
		return []Alert{over}, nil
	case first.After(due):
		over.RaisedAt = now
		return []Alert{over}, nil
	}
	return nil, nil
}

// droppedAlert tells of instants that were dropped because more were missed than missed_limit.
func droppedAlert(s *Schedule, n int64, now time.Time) Alert {
	return Alert{
		Kind: AlertDropped, Tenant: s.Tenant, Subject: s.Name, RaisedAt: now, ClearedAt: now,
		Detail: fmt.Sprintf("%d missed instants were dropped: more than missed_limit (%d) were missed", n, s.Rule.MissedLimit),
	}
}
