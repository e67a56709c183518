package schedule

import (
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// Expect stores a definition with a dead man's switch.
func Expect(s *storetest.Stage, name string, within time.Duration) {
	s.Helper()
	s.PutType(core.JobType{Name: name, ExpectWithin: within})
}

// Counted counts an end of a job of the type in the current minute.
func Counted(s *storetest.Stage, name string, of core.Rollup) {
	s.Helper()
	of.Minute, of.Priority, of.Type = s.Now(), core.Default, name
	s.Must(s.Store.AddRollups(s.Ctx, int(s.Number()%3), []core.Rollup{of}))
}

// overdue watches twice, and checks the number of alerts and whether the newest is open.
func overdue(s *storetest.Stage, when, name string, alerts int, open bool) {
	s.Helper()
	for range 2 {
		s.Must(s.Store.WatchTypes(s.Ctx))
	}
	var of []core.Alert
	tenant := ""
	for _, a := range s.Alerts(core.AlertQuery{Kind: core.AlertTypeMissed, Tenant: &tenant}) {
		if a.Subject == name {
			of = append(of, a)
		}
	}
	if len(of) != alerts || alerts > 0 && (of[0].ClearedAt.IsZero() != open || of[0].Detail == "" || of[0].RaisedAt.IsZero()) {
		s.Fatalf("%s: want %d alerts about %s, the newest open: %t; got %+v", when, alerts, name, open, of)
	}
}

func typeOverdue(s *storetest.Stage) {
	Counted(s, "a", core.Rollup{Done: 1}) // before a success is expected
	Expect(s, "a", time.Hour)
	s.PutType(core.JobType{Name: "b"})
	s.Must(s.Store.MarkDelivered(s.Ctx, []string{"c"}))
	s.Advance(58 * time.Minute)
	overdue(s, "in time", "a", 0, false)
	Counted(s, "a", core.Rollup{Starts: 1, Failed: 1, Retried: 1})
	Counted(s, "b", core.Rollup{Done: 1})
	s.Advance(4 * time.Minute)
	s.Maintain(core.MaintainRequest{})
	Counted(s, "a", core.Rollup{Starts: 1, Failed: 1})
	overdue(s, "nothing was done", "a", 1, true)
	overdue(s, "nothing is expected", "b", 0, false)
	overdue(s, "nothing is defined", "c", 0, false)
	Counted(s, "a", core.Rollup{Done: 1})
	overdue(s, "a success", "a", 1, false)
	s.Advance(58 * time.Minute)
	Counted(s, "a", core.Rollup{Done: 1})
	s.Advance(58 * time.Minute)
	overdue(s, "a success in time", "a", 1, false)
	s.Advance(4 * time.Minute)
	overdue(s, "late again", "a", 2, true)
	s.Advance(10 * time.Hour)
	s.Maintain(core.MaintainRequest{})
	overdue(s, "late still", "a", 2, true)
	Counted(s, "a", core.Rollup{Done: 1})
	s.Advance(5 * time.Minute)
	s.Maintain(core.MaintainRequest{})
	overdue(s, "a success in a minute that was merged", "a", 2, false)
}

func typeRemembered(s *storetest.Stage) {
	Expect(s, "a", 60*storetest.Day)
	s.Advance(30 * storetest.Day)
	Counted(s, "a", core.Rollup{Done: 1})
	overdue(s, "a success", "a", 0, false)
	for range 2 {
		s.Advance(29 * storetest.Day)
		s.Maintain(core.MaintainRequest{})
		overdue(s, "its minute is gone", "a", 0, false)
	}
	s.Advance(3 * storetest.Day)
	overdue(s, "late", "a", 1, true)
}

func typeRewatched(s *storetest.Stage) {
	late := func(alerts int) {
		s.Helper()
		s.Advance(62 * time.Minute)
		overdue(s, "late", "a", alerts, true)
	}
	Expect(s, "a", time.Hour)
	s.Advance(50 * time.Minute)
	Expect(s, "a", time.Hour)
	s.Advance(12 * time.Minute)
	overdue(s, "the same length goes on", "a", 1, true)
	Expect(s, "a", time.Hour)
	overdue(s, "the same length goes on", "a", 1, true)
	Expect(s, "a", time.Hour+time.Second)
	overdue(s, "another length begins anew", "a", 1, false)
	late(2)
	s.PutType(core.JobType{Name: "a"})
	if open := s.Alerts(core.AlertQuery{Open: true}); len(open) != 0 {
		s.Fatalf("nothing is expected: %+v", open)
	}
	Expect(s, "a", time.Hour)
	overdue(s, "set again", "a", 2, false)
	late(3)
	s.Must(s.Store.DeleteType(s.Ctx, "a"))
	if open := s.Alerts(core.AlertQuery{Open: true}); len(open) != 0 {
		s.Fatalf("the definition is gone: %+v", open)
	}
	s.Advance(62 * time.Minute)
	overdue(s, "the definition is gone", "a", 3, false)
}

// typeWatchRace watches from two processes while definitions are deleted and created again. Each alert is raised once, and
// none remains for a deleted type.
func typeWatchRace(s *storetest.Stage) {
	handles := []*storetest.Stage{s, s.Second()}
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		Expect(s, name, time.Hour)
	}
	s.Advance(62 * time.Minute)
	acts := []func() error{func() error { return s.Store.DeleteType(s.Ctx, "a") }, func() error { return handles[1].Store.DeleteType(s.Ctx, "b") }}
	for i := range 8 {
		acts = append(acts, func() error { return handles[i%2].Store.WatchTypes(s.Ctx) })
	}
	s.Together(acts...)
	overdue(s, "late", "c", 1, true)
	overdue(s, "late", "d", 1, true)
	if open := s.Alerts(core.AlertQuery{Open: true}); len(open) != 2 {
		s.Errorf("open: %+v", open)
	}
}
