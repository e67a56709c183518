package storetest

import (
	"github.com/belfry-dev/belfry/core"
)

func advanceAlerts(s *stage) {
	of, other := s.newSchedule(core.ScheduleRule{}), s.newSchedule(core.ScheduleRule{})
	missed := core.Alert{Kind: "schedule_missed", Detail: "no success"}
	dropped := core.Alert{Kind: "occurrences_dropped", Detail: "10 were dropped", RaisedAt: s.now(), ClearedAt: s.now()}
	one, two := fired(of, 0), fired(other, 0)
	one.Alerts, two.Alerts = []core.Alert{missed, dropped}, []core.Alert{missed}
	stale := two
	stale.Moves++
	if answers, err := s.store.AdvanceSchedules(s.ctx, []core.Advance{one, stale}, nil); err != nil || answers[0].Stale || !answers[1].Stale {
		s.Fatalf("answers %+v, %v", answers, err)
	}
	open := s.alerts(core.AlertQuery{Open: true})
	if len(open) != 1 || open[0].Kind != missed.Kind || open[0].Subject != of.Name || open[0].Detail != missed.Detail {
		s.Errorf("open %+v", open)
	}
	if over := s.alerts(core.AlertQuery{Kind: dropped.Kind}); len(over) != 1 || over[0].Subject != of.Name || over[0].ClearedAt.IsZero() {
		s.Errorf("one that was over at once: %+v", over)
	}
	late := missed
	late.RaisedAt, late.ClearedAt = s.now(), s.now()
	next := fired(s.schedule(of), 1)
	next.Alerts = []core.Alert{late}
	s.step(next)
	if all := s.alerts(core.AlertQuery{Kind: missed.Kind}); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Errorf("one that was open and is over: %+v", all)
	}
	s.step(two)
	s.must(s.store.DeleteSchedule(s.ctx, "", other.Name, 0))
	if open := s.alerts(core.AlertQuery{Open: true}); len(open) != 0 {
		s.Errorf("of a schedule that is gone: %+v", open)
	}
}

func alertsOnce(s *stage) {
	one := core.Alert{Kind: "schedule_missed", Tenant: "a", Subject: "nightly", Detail: "no success"}
	for range 3 {
		s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{one, {Kind: "type_missed", Subject: "nightly"}}))
	}
	open := s.alerts(core.AlertQuery{Open: true})
	if len(open) != 2 || open[1].Detail != "no success" || open[1].RaisedAt.IsZero() || !open[1].ClearedAt.IsZero() {
		s.Fatalf("open %+v", open)
	}
	over := one
	over.ClearedAt = s.now()
	for range 3 {
		s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{over}))
	}
	tenant := "a"
	if all := s.alerts(core.AlertQuery{Tenant: &tenant}); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Errorf("after clearing: %+v", all)
	}
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{one}))
	if all := s.alerts(core.AlertQuery{Tenant: &tenant, Kind: one.Kind}); len(all) != 2 || !all[0].ClearedAt.IsZero() {
		s.Errorf("raised anew: %+v", all)
	}
	moment := core.Alert{Kind: "occurrences_dropped", Subject: "nightly", RaisedAt: s.now(), ClearedAt: s.now()}
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{moment}))
	if all := s.alerts(core.AlertQuery{Kind: moment.Kind}); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Errorf("one that was over at once: %+v", all)
	}
}

func alertsUnsent(s *stage) {
	one := core.Alert{Kind: "schedule_missed", Subject: "nightly"}
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{one}))
	req := tickRequest("holder-1")
	req.ScheduleLimit = 1
	if !s.tick(req).Unsent {
		s.Error("the tick does not say that an event waits")
	}
	raised := s.alerts(core.AlertQuery{Unsent: true})
	if len(raised) != 1 {
		s.Fatalf("unsent %+v", raised)
	}
	over := one
	over.ClearedAt = s.now()
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{over}))
	s.must(s.store.MarkAlerts(s.ctx, raised))
	cleared := s.alerts(core.AlertQuery{Unsent: true})
	if len(cleared) != 1 || cleared[0].ClearedAt.IsZero() {
		s.Fatalf("what was cleared before its raising was published: %+v", cleared)
	}
	s.must(s.store.MarkAlerts(s.ctx, cleared))
	if left := s.alerts(core.AlertQuery{Unsent: true}); len(left) != 0 || s.tick(req).Unsent {
		s.Errorf("left %+v", left)
	}
}

func (s *stage) alerts(q core.AlertQuery) []core.Alert {
	s.Helper()
	q.Limit = 100
	list, err := s.store.Alerts(s.ctx, q)
	s.must(err)
	return list
}
