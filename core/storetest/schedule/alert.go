package schedule

import (
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func advanceAlerts(s *storetest.Stage) {
	of, other := s.NewSchedule(core.ScheduleRule{}), s.NewSchedule(core.ScheduleRule{})
	missed := core.Alert{Kind: "schedule_missed", Detail: "no success"}
	dropped := core.Alert{Kind: "occurrences_dropped", Detail: "10 were dropped", RaisedAt: s.Now(), ClearedAt: s.Now()}
	one, two := storetest.Fired(of, 0), storetest.Fired(other, 0)
	one.Alerts, two.Alerts = []core.Alert{missed, dropped}, []core.Alert{missed}
	stale := two
	stale.Moves++
	if answers, err := s.Store.AdvanceSchedules(s.Ctx, []core.Advance{one, stale}, nil); err != nil || answers[0].Stale || !answers[1].Stale {
		s.Fatalf("answers %+v, %v", answers, err)
	}
	open := s.Alerts(core.AlertQuery{Open: true})
	if len(open) != 1 || open[0].Kind != missed.Kind || open[0].Subject != of.Name || open[0].Detail != missed.Detail {
		s.Errorf("open %+v", open)
	}
	if over := s.Alerts(core.AlertQuery{Kind: dropped.Kind}); len(over) != 1 || over[0].Subject != of.Name || over[0].ClearedAt.IsZero() {
		s.Errorf("one that was over at once: %+v", over)
	}
	late := missed
	late.RaisedAt, late.ClearedAt = s.Now(), s.Now()
	next := storetest.Fired(s.Schedule(of), 1)
	next.Alerts = []core.Alert{late}
	s.Step(next)
	if all := s.Alerts(core.AlertQuery{Kind: missed.Kind}); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Errorf("one that was open and is over: %+v", all)
	}
	s.Step(two)
	s.Must(s.Store.DeleteSchedule(s.Ctx, "", other.Name, 0))
	if open := s.Alerts(core.AlertQuery{Open: true}); len(open) != 0 {
		s.Errorf("of a schedule that is gone: %+v", open)
	}
}

func alertsOnce(s *storetest.Stage) {
	one := core.Alert{Kind: "schedule_missed", Tenant: "a", Subject: "nightly", Detail: "no success"}
	for range 3 {
		s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{one, {Kind: "type_missed", Subject: "nightly"}}))
	}
	open := s.Alerts(core.AlertQuery{Open: true})
	if len(open) != 2 || open[1].Detail != "no success" || open[1].RaisedAt.IsZero() || !open[1].ClearedAt.IsZero() {
		s.Fatalf("open %+v", open)
	}
	over := one
	over.ClearedAt = s.Now()
	for range 3 {
		s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{over}))
	}
	tenant := "a"
	if all := s.Alerts(core.AlertQuery{Tenant: &tenant}); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Errorf("after clearing: %+v", all)
	}
	s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{one}))
	if all := s.Alerts(core.AlertQuery{Tenant: &tenant, Kind: one.Kind}); len(all) != 2 || !all[0].ClearedAt.IsZero() {
		s.Errorf("raised again: %+v", all)
	}
	moment := core.Alert{Kind: "occurrences_dropped", Subject: "nightly", RaisedAt: s.Now(), ClearedAt: s.Now()}
	s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{moment}))
	if all := s.Alerts(core.AlertQuery{Kind: moment.Kind}); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Errorf("one that was over at once: %+v", all)
	}
}

func alertsUnsent(s *storetest.Stage) {
	one := core.Alert{Kind: "schedule_missed", Subject: "nightly"}
	s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{one}))
	req := storetest.TickRequest("holder-1")
	req.ScheduleLimit = 1
	if !s.Tick(req).Unsent {
		s.Error("the tick does not say that an event waits")
	}
	raised := s.Alerts(core.AlertQuery{Unsent: true})
	if len(raised) != 1 {
		s.Fatalf("unsent %+v", raised)
	}
	over := one
	over.ClearedAt = s.Now()
	s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{over}))
	s.Must(s.Store.MarkAlerts(s.Ctx, raised))
	cleared := s.Alerts(core.AlertQuery{Unsent: true})
	if len(cleared) != 1 || cleared[0].ClearedAt.IsZero() {
		s.Fatalf("what was cleared before its raising was published: %+v", cleared)
	}
	s.Must(s.Store.MarkAlerts(s.Ctx, cleared))
	if left := s.Alerts(core.AlertQuery{Unsent: true}); len(left) != 0 || s.Tick(req).Unsent {
		s.Errorf("left %+v", left)
	}
}
